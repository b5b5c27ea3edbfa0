use std::hint::black_box;
use std::time::Instant;
fn bench(name: &str, mut f: impl FnMut()) {
    let mut best = f64::MAX;
    for _ in 0..15 {
        let t = Instant::now();
        for _ in 0..5000 {
            f()
        }
        best = best.min(t.elapsed().as_nanos() as f64 / 5000.0);
    }
    println!("{name}: {best:.0} ns");
}
fn main() {
    let v: serde_json::Value =
        serde_json::from_slice(&std::fs::read("vectors/invoice-draft.request.json").unwrap()).unwrap();
    let body = std::fs::read("vectors/invoice-draft.request.json").unwrap();
    let small = serde_json::to_vec(&v).unwrap();
    println!("{} {}", body.len(), small.len());
    use countersign_core::*;
    bench("parse pretty", || {
        black_box(json::read(black_box(&body)).unwrap());
    });
    bench("parse compact", || {
        black_box(json::read(black_box(&small)).unwrap());
    });
    let val = json::read(&small).unwrap();
    let mut out = Vec::with_capacity(4096);
    bench("canonical", || {
        out.clear();
        canonical::write(black_box(&val), &mut out);
        black_box(&out);
    });
    bench("hash 966", || {
        black_box(canonical::Hash::of(black_box(&out)));
    });
    bench("drop+clone", || {
        black_box(black_box(&val).clone());
    });
}
