//! Unsigned documents: the agent card, the pointers at `/`, health. Receipts and problems are made elsewhere.

use crate::app::{App, VERSION};
use crate::problem::{VECTORS, part_of};
use countersign_core::check::name::CheckName;
use countersign_core::document::{Members, Part, json};
use countersign_core::key::{ALGORITHM, ATTESTATION_EXTENSION, KeyStatus, ListedKey, PUBLIC_KEY_ENCODING};
use countersign_core::statement::Context;

/// The agent card (interfaces.md 8.1), with every key and the vectors in its attestation extension.
pub(crate) fn agent_card(app: &App) -> Vec<u8> {
    let keys = app.signer.list(app.now());
    let names = CheckName::ALL.iter().map(|name| name.as_str().into());
    let params = Part::Object(vec![
        ("publicKeys", public_keys(&keys)),
        ("requestHashTestVectors", part_of(&VECTORS)),
        ("contexts", Part::List(vec![Context::Check.as_str().into()])),
        ("checkNames", Part::List(names.collect())),
    ]);
    let attestation = Part::Object(vec![
        ("uri", format!("{ATTESTATION_EXTENSION}v1").into()),
        (
            "description",
            "Keys and test vectors for checking receipts.".into(),
        ),
        ("params", params),
    ]);
    let description = "Checks structured output against a JSON Schema, rules and bounds; answers with a signed \
                       receipt.";
    json(&vec![
        ("name", app.letterhead.service_name.as_str().into()),
        ("description", description.into()),
        ("version", VERSION.into()),
        (
            "capabilities",
            Part::Object(vec![
                ("streaming", Part::Bool(false)),
                ("pushNotifications", Part::Bool(false)),
                ("extensions", Part::List(vec![attestation])),
            ]),
        ),
        ("defaultInputModes", Part::List(vec!["application/json".into()])),
        ("defaultOutputModes", Part::List(vec!["application/json".into()])),
    ])
}

/// The agent card's `publicKeys`: every key ever listed.
pub fn public_keys(keys: &[ListedKey]) -> Part<'_> {
    Part::List(keys.iter().map(listed_key).collect())
}

fn listed_key(key: &ListedKey) -> Part<'_> {
    let status = key.status.map_or("current", KeyStatus::as_str);
    let mut members: Members<'_> = vec![
        ("keyVersion", key.key_version.as_str().into()),
        ("algorithm", ALGORITHM.into()),
        ("publicKey", key.public_key.to_base64().into()),
        ("publicKeyEncoding", PUBLIC_KEY_ENCODING.into()),
        ("status", status.into()),
    ];
    members.extend(key.endorsement.as_ref().map(|word| ("endorsement", word.part())));
    Part::Object(members)
}

/// What stands at `/`: who this is, and where to go.
pub(crate) fn pointers(app: &App) -> Vec<u8> {
    let link = |path: &str| -> Part<'static> { format!("{}{path}", app.letterhead.public_url).into() };
    json(&vec![
        ("name", "countersign".into()),
        ("service", app.letterhead.service_name.as_str().into()),
        ("version", VERSION.into()),
        ("mode", "open".into()),
        (
            "links",
            Part::Object(vec![
                ("check", link("/verify/schema")),
                ("check_deliverable", link("/verify/deliverable")),
                ("receipt", link("/receipts/{verification_id}")),
                ("verify_receipt", link("/receipts/verify")),
                ("agent_card", link("/.well-known/agent-card.json")),
                ("health", link("/health")),
                ("ready", link("/health/ready")),
            ]),
        ),
    ])
}

/// Alive, and ready.
pub(crate) const OK: &[u8] = br#"{"status":"ok"}"#;
