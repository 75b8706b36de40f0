//! What is true of one world and differs from seed to seed.

use super::app::Framework;

/// What a model would have to know to deploy without looking: all of it follows from the seed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// Host and port of the image registry.
    pub registry: String,
    /// The file of the workspace that holds the registry's address.
    pub registry_file: String,
    /// The line of that file that does.
    pub registry_line: String,
    /// The one namespace that takes deployments.
    pub namespace: String,
    /// The path on which every service answers health checks.
    pub probe_path: String,
    /// What follows a service's name in its host name.
    pub domain: String,
    /// The folder that holds a folder for each service.
    pub folder: String,
    /// The environment variable from which Django takes the hosts it allows.
    pub hosts_setting: String,
    /// What the services are called, in the order of [`Framework::ALL`].
    pub services: [String; 3],
}

const WORDS: [&str; 16] = [
    "amber", "basalt", "cobalt", "dune", "ember", "fjord", "garnet", "harbour", "indigo",
    "juniper", "krill", "lagoon", "meadow", "nimbus", "opal", "prairie",
];
const SERVICES: [&str; 15] = [
    "checkout",
    "invoices",
    "catalogue",
    "basket",
    "ledger",
    "bookings",
    "loyalty",
    "parcels",
    "pricing",
    "coupons",
    "vouchers",
    "inventory",
    "payouts",
    "rosters",
    "payroll",
];
const PROBE_ROOTS: [&str; 5] = ["/internal", "/_sys", "/-", "/ops", "/meta"];
const PROBE_LEAVES: [&str; 5] = ["ready", "alive", "pulse", "up", "green"];
const FOLDERS: [&str; 4] = ["backends", "components", "workloads", "microsites"];
const SETTINGS: [&str; 3] = ["ALLOWED_HOSTS", "DJANGO_ALLOWED_HOSTS", "WEB_ALLOWED_HOSTS"];

impl Facts {
    /// Draws the facts of the world with this seed. The same seed gives the same facts.
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let company = dice.pick(&WORDS);
        let registry = match dice.below(3) {
            0 => format!("registry.{company}.test:5000"),
            1 => format!("images.{company}.example"),
            _ => format!("cr-{company}.internal:443"),
        };
        let (registry_file, registry_line) = registry_entry(&mut dice, &registry);
        Self {
            registry,
            registry_file,
            registry_line,
            namespace: format!("{}-{}", dice.pick(&["team", "squad", "crew"]), dice.pick(&WORDS)),
            probe_path: format!("{}/{}", dice.pick(&PROBE_ROOTS), dice.pick(&PROBE_LEAVES)),
            domain: format!("{}.{company}.test", dice.pick(&["run", "live", "edge"])),
            folder: dice.pick(&FOLDERS).to_owned(),
            hosts_setting: dice.pick(&SETTINGS).to_owned(),
            services: services(&mut dice),
        }
    }

    /// Returns what the service written in `framework` is called.
    pub fn service(&self, framework: Framework) -> &str {
        let [flask, django, fast_api] = &self.services;
        match framework {
            Framework::Flask => flask,
            Framework::Django => django,
            Framework::FastApi => fast_api,
        }
    }

    /// Returns everything that a model could only know from this world, for a test that it does not.
    pub fn answers(&self) -> Vec<&str> {
        let single = [
            &self.registry,
            &self.registry_file,
            &self.namespace,
            &self.probe_path,
            &self.domain,
            &self.folder,
            &self.hosts_setting,
        ];
        single.into_iter().chain(&self.services).map(String::as_str).collect()
    }
}

/// Returns a file of the workspace and the line in it that names the registry.
fn registry_entry(dice: &mut Dice, registry: &str) -> (String, String) {
    let (file, line) = match dice.below(3) {
        0 => (".pipeline/release.yml", format!("registry: {registry}")),
        1 => ("build/images.env", format!("REGISTRY={registry}")),
        _ => ("tooling/release.toml", format!("registry = \"{registry}\"")),
    };
    (file.to_owned(), line)
}

fn services(dice: &mut Dice) -> [String; 3] {
    let first = dice.below(SERVICES.len());
    [0, 1, 2].map(|it| SERVICES.iter().cycle().skip(first + it * 4).take(1).copied().collect())
}

/// A small generator of numbers (splitmix64), so that a seed gives the same world everywhere.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % count).unwrap_or_default()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from.get(self.below(from.len())).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_world_and_another_seed_another() {
        assert_eq!(Facts::new(7), Facts::new(7));
        assert_ne!(Facts::new(7), Facts::new(8));
    }

    #[test]
    fn services_of_a_world_have_different_names() {
        for seed in 0..50 {
            let [flask, django, fast_api] = Facts::new(seed).services;

            assert!(flask != django && django != fast_api && flask != fast_api);
        }
    }
}
