//! Following key lists that nobody vouches for from a pinned root key: what must lead on, and what must not.

// What a test cannot read fails it; its inputs are its own.
#![allow(clippy::unwrap_used, clippy::similar_names, clippy::unnecessary_wraps)]

use countersign_core::document::{Part, json_of};
use countersign_core::key::{
    ALGORITHM, Endorsement, KeyList, KeyStatus, ListedKey, PUBLIC_KEY_ENCODING, PublicKey,
};
use countersign_core::limits::{KEY_CHAIN_MAX, KEY_LIST_ENTRIES_MAX};
use countersign_core::time::Timestamp;
use ed25519_dalek::{Signer as _, SigningKey};
use proptest::prelude::*;

fn private(number: usize) -> SigningKey {
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    SigningKey::from_bytes(&seed)
}

fn public(number: usize) -> PublicKey {
    PublicKey(private(number).verifying_key().to_bytes())
}

fn version(number: usize) -> String {
    format!("v1-{number}")
}

fn at(seconds: usize) -> Timestamp {
    Timestamp(1_793_836_800_000_000 + seconds as i64 * 1_000_000)
}

/// The word of key `by` for key `heir`, so many seconds after the start.
fn word(by: usize, heir: usize, seconds: usize) -> Option<Endorsement> {
    let (endorser, endorsed) = (version(by), version(heir));
    Some(Endorsement::new(
        (&endorser, public(by)),
        (&endorsed, public(heir)),
        at(seconds),
        |message| private(by).sign(message).to_bytes(),
    ))
}

/// Keys 0 to `last`, each endorsed by the one before it, the last one current.
fn chain(last: usize) -> Vec<ListedKey> {
    let key = |number: usize| ListedKey {
        key_version: version(number),
        public_key: public(number),
        status: Some(if number == last {
            KeyStatus::Current
        } else {
            KeyStatus::Previous
        }),
        endorsement: number.checked_sub(1).and_then(|by| word(by, number, number)),
    };
    (0..=last).map(key).collect()
}

fn entry_text(key: &ListedKey) -> String {
    let mut members = vec![
        ("keyVersion", key.key_version.as_str().into()),
        ("algorithm", ALGORITHM.into()),
        ("publicKey", key.public_key.to_base64().into()),
        ("publicKeyEncoding", PUBLIC_KEY_ENCODING.into()),
        ("status", key.status.map_or("", KeyStatus::as_str).into()),
    ];
    members.extend(key.endorsement.as_ref().map(|word| ("endorsement", word.part())));
    String::from_utf8(json_of(&Part::Object(members))).unwrap()
}

fn text(keys: &[ListedKey]) -> String {
    format!("[{}]", keys.iter().map(entry_text).collect::<Vec<_>>().join(","))
}

/// The status of the key in this list, if key 0 leads to it. A list that cannot be read leads nowhere.
fn follow(list: &str, key: &str) -> Option<KeyStatus> {
    let list = KeyList::parse_rooted(list.as_bytes(), public(0)).ok()?;
    list.find(key).map(|(_, status)| status.unwrap())
}

/// One change to an honest chain of five, and the key whose way is looked for.
fn after(change: impl FnOnce(&mut Vec<ListedKey>), key: usize) -> Option<KeyStatus> {
    let mut keys = chain(4);
    change(&mut keys);
    follow(&text(&keys), &version(key))
}

#[test]
fn the_root_leads_to_every_key_of_an_honest_list() {
    use KeyStatus::{Compromised, Current, Next, Previous};
    for key in 0..4 {
        assert_eq!(after(|_| {}, key), Some(Previous), "{key}");
    }
    assert_eq!(after(|_| {}, 4), Some(Current));
    assert_eq!(
        after(|keys| keys.reverse(), 4),
        Some(Current),
        "by version, not by place"
    );
    assert_eq!(after(|keys| keys[4].status = Some(Next), 4), Some(Next));
    assert_eq!(
        after(|keys| keys[4].status = Some(Compromised), 4),
        Some(Compromised),
        "the way is good, the key is not"
    );
    assert_eq!(
        after(|keys| keys[0].status = Some(Compromised), 0),
        Some(Compromised),
        "the root itself"
    );
    assert_eq!(
        after(|keys| keys[4].status = Some(Compromised), 3),
        Some(Previous),
        "what comes before a compromised key stays"
    );
    // Two nodes, each with a private half of its own, were both given the word of key 1.
    assert_eq!(
        after(|keys| keys[4].endorsement = word(1, 4, 9), 4),
        Some(Current)
    );
    assert_eq!(
        after(|keys| drop(keys.remove(3)), 2),
        Some(Previous),
        "a gap behind the key does no harm"
    );
}

#[test]
fn no_way_leads_over_a_word_that_is_worth_nothing() {
    type Change = fn(&mut Vec<ListedKey>);
    let rows: &[(&str, Change)] = &[
        ("none at all", |keys| keys[4].endorsement = None),
        ("a gap", |keys| drop(keys.remove(3))),
        ("no root", |keys| drop(keys.remove(0))),
        ("a list of others", |keys| keys.drain(..4).for_each(drop)),
        ("a compromised endorser", |keys| {
            keys[3].status = Some(KeyStatus::Compromised);
        }),
        ("a compromised one in between", |keys| {
            keys[1].status = Some(KeyStatus::Compromised);
        }),
        ("a compromised root", |keys| {
            keys[0].status = Some(KeyStatus::Compromised);
        }),
        ("an endorser that was never in use", |keys| {
            keys[2].status = Some(KeyStatus::Next);
        }),
        ("another key's word", |keys| {
            keys[4].endorsement = keys[3].endorsement.clone();
        }),
        ("the word for another key", |keys| {
            keys[4].endorsement = word(3, 5, 4);
        }),
        ("its own word", |keys| keys[4].endorsement = word(4, 4, 4)),
        ("a word dated before the endorser's own", |keys| {
            keys[4].endorsement = word(3, 4, 2);
        }),
        ("a word of the same moment as the endorser's own", |keys| {
            keys[4].endorsement = word(3, 4, 3);
        }),
        ("the word of a later key", |keys| {
            keys[2].endorsement = word(4, 2, 2);
        }),
        ("a ring", |keys| {
            keys[1].endorsement = word(4, 1, 1);
        }),
        ("a ring of two", |keys| {
            keys[3].endorsement = word(4, 3, 3);
            keys[4].endorsement = word(3, 4, 4);
        }),
        ("another time", |keys| {
            keys[4].endorsement.as_mut().unwrap().attested_at = at(5);
        }),
        ("another endorser's name", |keys| {
            keys[4].endorsement.as_mut().unwrap().key_version = version(2);
        }),
        ("a signature that is none", |keys| {
            keys[4].endorsement.as_mut().unwrap().signature = "AAAA".to_owned();
        }),
        ("a signature without its padding", |keys| {
            keys[4].endorsement.as_mut().unwrap().signature.truncate(86);
        }),
        ("a key put in the place of the endorser", |keys| {
            keys[3].public_key = public(9);
        }),
        ("a key put in the place of the endorsed", |keys| {
            keys[4].public_key = public(9);
        }),
        ("a key put in the place of the root", |keys| {
            keys[0].public_key = public(9);
        }),
        ("the root under a second version", |keys| {
            keys[3].public_key = public(0);
        }),
        ("a word signed for receipts", |keys| {
            let signature = private(3).sign(b"anything else").to_bytes();
            let word = keys[4].endorsement.as_mut().unwrap();
            word.signature = countersign_core::key::signature_text(&signature);
        }),
    ];
    for (name, change) in rows {
        assert_eq!(after(change, 4), None, "{name}");
    }
}

#[test]
fn an_entry_has_to_say_everything() {
    let honest = text(&chain(1));
    assert_eq!(follow(&honest, "v1-1"), Some(KeyStatus::Current));
    for (old, new) in [
        (r#""status":"previous","#, ""),
        (r#","status":"previous"}"#, "}"),
        (r#""algorithm":"Ed25519","#, ""),
        (
            r#""publicKeyEncoding":"base64 of the raw 32-byte Ed25519 public key","#,
            "",
        ),
        ("base64 of the raw", "base64url of the raw"),
        (r#""previous""#, r#""revoked""#),
        (r#""previous""#, "null"),
        (r#""previous""#, r#""previous","keyVersion":"v1-0""#),
        (r#""attestedAt":""#, r#""attestedAt":" "#),
        (r#""attestedAt":"#, r#""note":"","attestedAt":"#),
        ("+00:00", "Z"),
    ] {
        if honest.contains(old) {
            let spoiled = honest.replacen(old, new, 1);
            assert_eq!(follow(&spoiled, "v1-1"), None, "{old} -> {new}");
        }
    }
    // What is added and not known is left for later versions.
    let added = honest.replacen(r#""status":"#, r#""note":1,"status":"#, 1);
    assert_eq!(follow(&added, "v1-1"), Some(KeyStatus::Current));
}

#[test]
fn a_way_is_as_long_as_the_limit_and_no_longer() {
    let mut keys = chain(KEY_CHAIN_MAX + 1);
    let list = text(&keys);
    assert!(follow(&list, &version(KEY_CHAIN_MAX)).is_some());
    assert_eq!(follow(&list, &version(KEY_CHAIN_MAX + 1)), None);
    keys.truncate(1);
    let mut fill = |count: usize| {
        keys.extend(
            (keys.len()..count)
                .map(|number| ListedKey {
                    endorsement: keys[0].endorsement.clone(),
                    ..ListedKey {
                        key_version: version(number),
                        public_key: public(number),
                        ..keys[0].clone()
                    }
                })
                .collect::<Vec<_>>(),
        );
        follow(&text(&keys), "v1-0")
    };
    assert!(fill(KEY_LIST_ENTRIES_MAX).is_some());
    assert_eq!(fill(KEY_LIST_ENTRIES_MAX + 1), None);
}

/// Where the parts of the chain of three stand in the list's text that decide about key 2: its three entries, and
/// not what separates them.
fn places() -> (String, Vec<usize>) {
    let keys = chain(2);
    let list = text(&keys);
    let mut places = Vec::new();
    for key in &keys {
        let entry = entry_text(key);
        let start = list.find(&entry).unwrap();
        places.extend(start..start + entry.len());
    }
    (list, places)
}

#[test]
fn a_flipped_bit_anywhere_in_the_chain_ends_it() {
    let (list, places) = places();
    assert_eq!(follow(&list, "v1-2"), Some(KeyStatus::Current));
    for at in places {
        for bit in 0..8 {
            let mut spoiled = list.clone().into_bytes();
            spoiled[at] ^= 1 << bit;
            let read = KeyList::parse_rooted(&spoiled, public(0));
            let found = read.ok().and_then(|keys| keys.find("v1-2"));
            assert_eq!(found, None, "{}", String::from_utf8_lossy(&spoiled));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Whatever is done to the text of a list: if the root still leads to a key, then over the very keys and words
    /// that the service made.
    #[test]
    fn only_the_service_s_own_words_lead_on(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..4, any::<u8>(), any::<prop::sample::Index>()), 1..4)
    ) {
        let (list, _) = places();
        let mut edited = list.clone().into_bytes();
        for (place, kind, byte, other) in edits {
            let at = place.index(edited.len());
            let end = (at + usize::from(byte)).min(edited.len());
            match kind {
                0 => edited[at] = byte,
                1 => edited.insert(at, byte),
                2 => drop(edited.drain(at..end)),
                // A piece of the list copied to another place.
                _ => {
                    let piece = edited[at..end].to_vec();
                    let to = other.index(edited.len());
                    edited.splice(to..to, piece);
                }
            }
            if edited.is_empty() {
                break;
            }
        }
        let honest = KeyList::parse_rooted(list.as_bytes(), public(0)).unwrap();
        if let Ok(read) = KeyList::parse_rooted(&edited, public(0)) {
            for version in ["v1-0", "v1-1", "v1-2"] {
                let found = read.find(version);
                // The status is the list's own word, which nobody signs.
                let same = |(key, _): (PublicKey, Option<KeyStatus>)| honest.find(version).is_some_and(|(own, _)| own == key);
                prop_assert!(found.is_none_or(same), "{}", String::from_utf8_lossy(&edited));
            }
        }
    }
}
