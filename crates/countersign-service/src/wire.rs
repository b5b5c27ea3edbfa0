//! Unsigned documents: the agent card, the pointers at `/`, reputation, health. What is signed and problems are made
//! elsewhere.

use crate::agent_id::AgentId;
use crate::app::{App, VERSION};
use crate::problem::{FREE, VECTORS, part_of};
use countersign_core::check::name::CheckName;
use countersign_core::document::{Members, Part, json};
use countersign_core::key::{ALGORITHM, ATTESTATION_EXTENSION, KeyStatus, ListedKey, PUBLIC_KEY_ENCODING};
use countersign_core::score::{DECIMALS, HalfLife, NO_DATA, Record, Z};
use countersign_core::statement::Context;
use countersign_core::time::Timestamp;
use countersign_store::CountedCheck;

/// The agent card (interfaces.md 8.1), with every key and the vectors in its attestation extension.
pub(crate) fn agent_card(app: &App) -> Vec<u8> {
    let keys = app.signer.list(app.now());
    let names = CheckName::ALL.iter().map(|name| name.as_str().into());
    let params = Part::Object(vec![
        ("publicKeys", public_keys(&keys)),
        ("requestHashTestVectors", part_of(&VECTORS)),
        ("contexts", contexts()),
        ("checkNames", Part::List(names.collect())),
        ("scoreMethod", score_method(app.half_life)),
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

fn contexts() -> Part<'static> {
    let contexts = [Context::Check, Context::Score];
    Part::List(contexts.iter().map(|context| context.as_str().into()).collect())
}

/// How a score is computed (verification.md, section 21), so that anyone can do it again.
fn score_method(half_life: HalfLife) -> Part<'static> {
    Part::Object(vec![
        ("halfLifeDays", Part::Integer(half_life.days().into())),
        (
            "weight",
            "w = 0.5^(age in days / halfLifeDays), the age counted back from the later of computed_at and the newest \
             counted check"
                .into(),
        ),
        ("trustScore", "sum of w over the passes / sum of w over all".into()),
        ("effectiveSampleSize", "n = (sum of w)^2 / sum of w^2".into()),
        ("confidenceInterval95", "Wilson score interval with n and z, within 0 and 1".into()),
        ("z", Part::Ratio(Z)),
        ("sums", "IEEE 754 doubles, in sequence order".into()),
        ("decimals", Part::Integer(DECIMALS.into())),
        ("rounding", "to the nearest, ties to even".into()),
    ])
}

/// The answer of `GET /reputation/{agent_id}`. It carries no score, but says where one is.
pub(crate) fn reputation(
    app: &App,
    agent: &AgentId,
    record: Option<&Record>,
    recent: &[CountedCheck],
) -> Vec<u8> {
    let count = |of: fn(&Record) -> u64| Part::Integer(record.map_or(0, of));
    let time =
        |of: fn(&Record) -> Timestamp| record.map_or(Part::Null, |record| of(record).to_string().into());
    let recent = recent.iter().map(|check| {
        Part::Object(vec![
            (
                "verified_at",
                Timestamp(check.verified_at_micros).to_string().into(),
            ),
            ("result", if check.passed { "pass" } else { "fail" }.into()),
        ])
    });
    let url = format!("{}/score/{}", app.letterhead.public_url, agent.percent_encoded());
    let score = vec![("url", url.into()), ("price", FREE.into())];
    json(&vec![
        ("agent_id", agent.as_str().into()),
        ("verified", count(Record::verified)),
        ("passed", count(|record| record.passed)),
        ("failed", count(|record| record.failed)),
        ("first_seen", time(|record| record.first_seen)),
        ("last_seen", time(Record::last_seen)),
        ("recent", Part::List(recent.collect())),
        ("identity_verified", Part::Bool(false)),
        (
            "reason",
            if record.is_some() {
                Part::Null
            } else {
                NO_DATA.into()
            },
        ),
        ("score", Part::Object(score)),
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
                ("score", link("/score/{agent_id}")),
                ("reputation", link("/reputation/{agent_id}")),
                ("agent_card", link("/.well-known/agent-card.json")),
                ("health", link("/health")),
                ("ready", link("/health/ready")),
            ]),
        ),
    ])
}

/// Alive, and ready.
pub(crate) const OK: &[u8] = br#"{"status":"ok"}"#;
