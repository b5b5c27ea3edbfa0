//! The stages of one check on one thread, beside the floor that no implementation of the contract can go under:
//! the signature, the four SHA-256 and one scan of the bytes.
//!
//! `cargo bench -p countersign-service --bench stages`

// A benchmark prints, and ends where its files are missing.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use countersign_core::canonical::{self, Hash};
use countersign_core::check::budget::Budget;
use countersign_core::check::content;
use countersign_core::check::request::{Request, Schemas};
use countersign_core::check::schema::{Schema, SchemaFault};
use countersign_core::check::selection::Selections;
use countersign_core::json::{self, Value};
use countersign_core::receipt::{Facts, Issuer};
use countersign_core::time::Timestamp;
use countersign_service::signer::Signer;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const BATCHES: usize = 400;
const CALLS: u32 = 100;

/// The one schema, compiled; found by its hash, as in a warm cache.
struct Warm(Hash, Arc<Schema>);

impl Schemas for Warm {
    fn compiled(&self, hash: &Hash, _: &Value) -> Result<Arc<Schema>, Vec<SchemaFault>> {
        assert_eq!(*hash, self.0);
        Ok(self.1.clone())
    }
}

/// Nanoseconds of one call: the best batch, since everything else is other work on the machine.
fn time<T>(name: &str, mut call: impl FnMut() -> T) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..BATCHES {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(call());
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(CALLS));
    }
    println!("{name:<44} {:>8.2} µs", best / 1000.0);
    best
}

fn main() {
    let pretty = std::fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../vectors/invoice-draft.request.json"
    ));
    // As a client sends it: without the white space of the file.
    let body = without_space(&pretty.unwrap());
    let folder = tempfile::tempdir().unwrap();
    let now = Timestamp(1_790_816_469_606_993);
    let (signer, _) = Signer::open_or_create(&folder.path().join("keys"), now).unwrap();
    let key = signer.current(now).unwrap();
    let issuer = Issuer {
        public_url: "http://127.0.0.1:8402",
        service_name: "Agent Output Verifier",
        key_version: &key.version,
    };

    let document = json::read(&body).unwrap();
    let schema_value = document.get("expected_schema").unwrap();
    let warm = Warm(
        Hash::of_value(schema_value),
        Arc::new(Schema::compile(schema_value).unwrap()),
    );
    let request = Request::parse(&body, &warm).unwrap();
    let report = request
        .demand
        .check(&request.output, &mut Budget::default())
        .unwrap();
    let facts = Facts::new(&request, &report, [7; 16], now, "0.1.0");
    let unsigned = facts.receipt(&report, request.detail, &issuer).signed_bytes;
    let hashed: Vec<Vec<u8>> = [
        canonical::bytes(&document),
        canonical::bytes(schema_value),
        canonical::bytes(&request.output),
        vec![b'x'; 130],
    ]
    .into();
    println!("request {} B, signed {} B\n", body.len(), unsigned.len());

    time("parse", || json::read(&body).unwrap());
    time("parse, contract, hashes", || {
        Request::parse(&body, &warm).unwrap()
    });
    time("schema, warm", || {
        request
            .demand
            .schema
            .evaluate(&request.output, &mut Budget::default())
            .unwrap()
    });
    time("content", || content::check(&request.output));
    time("rules", || {
        request.demand.rules[0].check(&request.output, &mut Selections::new())
    });
    time("whole check", || {
        request
            .demand
            .check(&request.output, &mut Budget::default())
            .unwrap()
    });
    time("facts and both serialisations", || {
        Facts::new(&request, &report, [7; 16], now, "0.1.0")
            .receipt(&report, request.detail, &issuer)
            .signed_bytes
            .len()
    });
    time("compile the schema (a cache miss)", || {
        Schema::compile(schema_value).unwrap()
    });
    println!();
    let sign = time("floor: sign", || key.sign(&unsigned));
    let hash = time("floor: four SHA-256", || {
        hashed
            .iter()
            .map(|bytes| Hash::of(bytes).0[0])
            .fold(0, u8::wrapping_add)
    });
    let scan = time("floor: one scan of the request", || scan(&body));
    let whole = time("whole request: bytes in, signed bytes out", || {
        let request = Request::parse(&body, &warm).unwrap();
        let report = request
            .demand
            .check(&request.output, &mut Budget::default())
            .unwrap();
        let facts = Facts::new(&request, &report, [7; 16], now, "0.1.0");
        let unsigned = facts.receipt(&report, request.detail, &issuer);
        let signature = key.sign(&unsigned.signed_bytes);
        unsigned.seal(&signature)
    });
    let floor = sign + hash + scan;
    println!(
        "\nwhole / floor = {:.1} / {:.1} µs = {:.2}",
        whole / 1000.0,
        floor / 1000.0,
        whole / floor
    );
}

/// Looks at each byte once, as any reader must.
fn scan(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| black_box(**byte) == b'"').count()
}

fn without_space(json: &[u8]) -> Vec<u8> {
    let mut in_string = false;
    let plain = |byte: &u8| {
        in_string ^= *byte == b'"';
        in_string || !byte.is_ascii_whitespace()
    };
    json.iter().copied().filter(plain).collect()
}
