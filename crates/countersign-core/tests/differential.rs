#[path = "differential/choices.rs"]
mod choices;
#[path = "differential/instances.rs"]
mod instances;
#[path = "differential/oracles.rs"]
mod oracles;
#[path = "differential/schemas.rs"]
mod schemas;

use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use proptest::strategy::{Strategy, ValueTree};
use std::collections::BTreeMap;

#[test]
fn two() {
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let strategy = (choices::choices(20..300), vec(choices::choices(10..120), 4));
    let mut fails = 0; let mut n = 0; let mut dis = 0;
    let mut len = 0;
    let (mut ta, mut tb, mut tg) = (0, 0, 0);
    let mut kw: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..2500 {
        let t = std::time::Instant::now();
        let (mut s, mut is) = strategy.new_tree(&mut runner).unwrap().current();
        let (draft, schema) = schemas::schema(&mut s);
        len += schema.to_string().len();
        tg += t.elapsed().as_micros();
        let t = std::time::Instant::now();
        let a = oracles::jsonschema(&schema).map_err(|e| panic!("{e} {schema}")).unwrap();
        ta += t.elapsed().as_micros();
        let t = std::time::Instant::now();
        let b = match oracles::Boon::compile(&schema, draft) { Ok(b) => b, Err(e) => { if !schema.to_string().contains("(?!") && !schema.to_string().contains("\\\\1") { println!("BOON {e} {schema}"); } continue } };
        tb += t.elapsed().as_micros();
        let sampler = instances::Sampler { root: &schema, draft };
        for i in &mut is {
            let inst = sampler.sample(i);
            n += 1;
            let va = a.is_valid(&inst);
            let vb = b.is_valid(&inst);
            if !va { fails += 1;
              let mut seen = std::collections::BTreeSet::new();
              for e in a.iter_errors(&inst) { seen.insert(e.schema_path().to_string().rsplit('/').find(|s| s.parse::<u32>().is_err()).unwrap().to_string()); }
              for s in seen { *kw.entry(s).or_default() += 1; }
            }
            if va != vb { dis += 1; if dis < 40 { println!("DIS js={va} boon={vb} {schema}\n    {inst}"); 
              for e in a.iter_errors(&inst) { println!("      {e} @{}", e.instance_path()); } } }
        }
    }
    println!("n={n} fails={fails} dis={dis} avglen={} ta={ta} tb={tb} tg={tg}", len/2500);
    println!("{kw:#?}");
}
