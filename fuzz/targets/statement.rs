//! Bytes as a receipt, as a body of the verify endpoint and as a key list: no panic, and canonical bytes of a
//! receipt verify as the receipt does.
#![no_main]

use countersign_core::canonical;
use countersign_core::json;
use countersign_core::key::KeyList;
use countersign_core::receipt::{Supplied, VerifyRequest, verify};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static LISTS: LazyLock<[KeyList; 2]> = LazyLock::new(|| {
    [
        &include_bytes!("../../vectors/public-keys.json")[..],
        include_bytes!("../../vectors/receipt/key-list.json"),
    ]
    .map(|text| KeyList::parse(text).expect("a key list of the vectors"))
});

fuzz_target!(|bytes: &[u8]| {
    let none = Supplied::default();
    for keys in LISTS.iter() {
        if let (Some(verified), Ok(receipt)) = (verify(bytes, keys, &none), json::read(bytes)) {
            assert_eq!(verify(&canonical::bytes(&receipt), keys, &none), Some(verified));
        }
        if let Ok(request) = VerifyRequest::parse(bytes) {
            if let Ok(verified) = request.verify(keys) {
                json::read(&verified.answer()).expect("an answer is strict JSON");
            }
        }
    }
    let _ = KeyList::parse(bytes);
});
