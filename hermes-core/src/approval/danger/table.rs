//! The rules, as data: which programs with which arguments are dangerous, which run other programs,
//! and which run code.

use super::{
    DangerClass as D,
    place::Place,
    rule::{Rule, Test},
};
use Test::{
    At, Final, Flag, Has, Lacks, Last, No, NoOperand, OpenMode, Operand, OwnerMode, Sub, ToRoot,
    Word,
};

macro_rules! rules {
    ($($class:ident: $programs:literal $(, $test:expr)*;)*) => {
        &[$(Rule { class: D::$class, programs: $programs, tests: &[$($test),*] },)*]
    };
}

/// Programs whose options must be known to tell options from operands: names, and the options that
/// take the next word.
pub(super) const VALUES: &[(&str, &str)] = &[
    ("git", "-C -c --git-dir --work-tree --namespace --exec-path"),
    (
        "docker podman nerdctl",
        "-H --host --context -c --config -l --log-level -f --file -p --project-name --profile --env-file -t --time -s --signal",
    ),
    ("docker-compose", "-f --file -p --project-name --profile --env-file --project-directory"),
    (
        "kubectl oc",
        "-n --namespace --context --kubeconfig -c --container --cluster --user -s --server",
    ),
    ("helm", "-n --namespace --kube-context --kubeconfig"),
    ("terraform tofu", "-chdir"),
    ("aws", "--profile --region --output --endpoint-url"),
    ("gcloud", "--project --account --zone --region"),
    ("systemctl", "-H --host -M --machine -t --type"),
    ("tee truncate shred", "-s --size -n --iterations -r --reference"),
    ("cp mv install ln", "-t --target-directory -S --suffix -m --mode -o --owner -g --group"),
    ("sed gsed", "-e --expression -f --file -l"),
    ("tar bsdtar", "-f --file -C --directory -T --files-from -X --exclude --transform"),
    ("scp sftp", "-i -F -o -P -l -c -J -S"),
    ("crontab", "-u"),
    ("redis-cli", "-h -p -a -n -u --user --pass -s"),
    (
        "curl",
        "-o --output -H --header -X --request -d --data -u --user -A --user-agent -e -b -c -F --form -T",
    ),
    ("wget", "-O --output-document -P --directory-prefix -o -U --header --post-data --post-file"),
    ("chmod chown chgrp", "--reference --from"),
    ("pkill killall", "-u -U -t -g -P -s --signal -o -n"),
    ("shutdown", "-t"),
];

/// What is dangerous.
pub(super) const RULES: &[Rule] = rules! {
    // Deleting.
    SystemDelete: "rm srm rimraf trash", Flag("-r -R --recursive"), At(Place::Vital, 0);
    SystemDelete: "rm", Flag("--no-preserve-root");
    SystemDelete: "rimraf", At(Place::Vital, 0);
    SystemDelete: "del erase rd rmdir ri remove-item", Flag("/s -Recurse"), At(Place::Vital, 0);
    SystemDelete: "mv", At(Place::Vital, 0), Word("/dev/null");
    RecursiveDelete: "rm srm", Flag("-r -R --recursive"), Operand;
    RecursiveDelete: "rimraf", Operand;
    RecursiveDelete: "del erase rd rmdir", Flag("/s");
    RecursiveDelete: "remove-item ri rd rmdir del erase", Flag("-Recurse");
    RecursiveDelete: "robocopy", Flag("/mir /purge");
    RecursiveDelete: "mv", Last(Place::Device);
    RecursiveDelete: "git", Sub("rm"), Flag("-r"), Flag("-f --force");
    BulkDelete: "rm", Flag("-f --force"), Word("* .* ./*"), No("-r -R --recursive");
    SystemFiles: "rm unlink rmdir shred truncate touch chattr del", At(Place::System, 0);
    Credentials: "rm unlink shred truncate", At(Place::Credential, 0);
    Shred: "shred wipe srm scrub sdelete", Operand;
    Shred: "cipher", Has("/w");

    // Disks.
    Disk: "mkfs newfs newfs_hfs", Operand;
    Disk: "mke2fs mkswap wipefs blkdiscard format-volume clear-disk initialize-disk diskpart", No("--help -h");
    Disk: "wipefs", Flag("-a --all");
    Disk: "fdisk sfdisk cfdisk gdisk sgdisk", Operand, No("-l --list -d --dump -p --print");
    Disk: "parted", Word("mklabel mktable mkpart rm resizepart mkfs");
    Disk: "diskutil", Sub("erasedisk|erasevolume|reformat|zerodisk|randomdisk|secureerase|partitiondisk|apfs");
    Disk: "format", Has(":");
    Disk: "hdparm", Has("--security-erase --trim-sector --write-sector");
    Disk: "nvme", Sub("format|sanitize");
    Disk: "cryptsetup", Word("luksformat erase lukserase reencrypt");
    Disk: "lvremove vgremove pvremove", Operand;
    Disk: "zpool zfs", Sub("destroy");
    Disk: "mdadm", Has("--zero-superblock");
    Disk: "badblocks", Flag("-w");
    Disk: "dd", Has("of=/dev/sd of=/dev/hd of=/dev/vd of=/dev/xvd of=/dev/nvme of=/dev/mmcblk of=/dev/disk of=/dev/rdisk of=/dev/mapper of=/dev/md of=/dev/mem");
    Disk: "cp tee mv cat pv shred truncate install", At(Place::Device, 0);
    RawCopy: "dd", Has("of="), Has("if="), Lacks("of=/dev/null of=/dev/stdout");

    // Rights.
    WorldWritable: "chmod", OpenMode;
    WorldWritable: "chmod", Flag("-R --recursive"), At(Place::Vital, 1);
    WorldWritable: "icacls", Has("everyone:");
    Setuid: "chmod", OwnerMode;
    Setuid: "setcap", Has("cap_");
    Ownership: "chown", ToRoot;
    Ownership: "chown chgrp", Flag("-R --recursive"), At(Place::Vital, 1);
    Ownership: "chown chgrp chmod", At(Place::System, 1);
    Ownership: "takeown", Operand;
    Credentials: "chmod chown", At(Place::Credential, 1), OpenMode;

    // Writing where it matters. Redirections are judged by the same places.
    SystemFiles: "tee", At(Place::System, 0);
    SystemFiles: "cp install ln rsync scp curl wget unzip", Last(Place::System);
    SystemFiles: "mv", At(Place::System, 0);
    SystemFiles: "sed gsed perl ruby", Flag("-i --in-place"), At(Place::System, 1);
    SystemFiles: "reg", Sub("delete|add|import");
    SystemFiles: "bcdedit", Operand;
    Shutdown: "tee", At(Place::Power, 0);
    Credentials: "tee", At(Place::Credential, 0);
    Credentials: "cp install ln rsync scp", Last(Place::Credential);
    Credentials: "mv", At(Place::Credential, 0);
    Credentials: "sed gsed perl ruby", Flag("-i --in-place"), At(Place::Credential, 1);
    Credentials: "ssh-copy-id", Operand;
    Startup: "tee truncate rm", At(Place::Startup, 0);
    Startup: "cp mv install ln rsync scp", Last(Place::Startup);
    Startup: "sed gsed perl ruby", Flag("-i --in-place"), At(Place::Startup, 1);
    ProjectSecrets: "tee truncate rm shred", At(Place::Project, 0);
    ProjectSecrets: "cp mv install ln rsync scp", Last(Place::Project);
    ProjectSecrets: "sed gsed perl ruby", Flag("-i --in-place"), At(Place::Project, 1);

    // Secrets.
    SecretRead: "cat less more head tail bat batcat nl tac od xxd hexdump strings base64 base32 cp type get-content gc view vim vi nano pbcopy xclip", At(Place::Secret, 0);
    SecretRead: "security", Sub("find-generic-password|find-internet-password|dump-keychain|export");
    SecretRead: "gpg gpg2", Flag("--export-secret-keys --export-secret-subkeys");
    SecretRead: "secretsdump mimikatz lazagne", Operand;

    // Programs and services.
    KillAll: "kill", Final("-1"), No("-l");
    Kill: "kill", Word("-9 -kill -sigkill 9");
    Kill: "kill", Flag("-s --signal"), Word("9 kill sigkill");
    Kill: "killall pkill skill", Operand, No("-0 -l --list");
    Kill: "taskkill", Flag("/f");
    Kill: "stop-process spps", Operand;
    Shutdown: "shutdown", No("-c --help --version");
    Shutdown: "reboot halt poweroff stop-computer restart-computer", No("--help --version");
    Shutdown: "init telinit", Sub("0|6|1|s");
    Shutdown: "systemctl loginctl", Sub("poweroff|reboot|halt|kexec|suspend|hibernate|rescue|emergency|soft-reboot");
    Service: "systemctl", Sub("stop|restart|disable|mask|kill|isolate|try-restart|revert");
    Service: "service rc-service", Word("stop restart");
    Service: "launchctl", Sub("unload|bootout|remove|stop|disable|kill");
    Service: "sc sc.exe", Sub("stop|delete|config");
    Service: "net", Sub("stop");
    Service: "stop-service remove-service disable-service", Operand;
    Service: "pm2", Sub("delete|stop|kill");
    Service: "supervisorctl", Sub("stop|shutdown|remove");
    Service: "brew", Sub("services stop");

    // Git.
    GitDiscard: "git", Sub("reset"), Flag("--hard --merge --keep");
    GitDiscard: "git", Sub("clean"), Flag("-f --force"), No("-n --dry-run");
    GitDiscard: "git", Sub("checkout"), Word(". :/ ./ *");
    GitDiscard: "git", Sub("checkout|switch"), Flag("-f --force --discard-changes");
    GitDiscard: "git", Sub("restore"), Word(". :/ ./ *"), No("-S --staged");
    GitDiscard: "git", Sub("restore"), Word(". :/ ./ *"), Flag("-W --worktree");
    GitDiscard: "git", Sub("stash drop|clear");
    GitDiscard: "git", Sub("branch"), Flag("-D");
    GitDiscard: "git", Sub("branch"), Flag("-d --delete"), Flag("-f --force");
    GitDiscard: "git", Sub("reflog expire|delete");
    GitDiscard: "git", Sub("gc"), Has("--prune=now --prune=all");
    GitDiscard: "git", Sub("worktree remove"), Flag("-f --force");
    GitDiscard: "git", Sub("update-ref"), Flag("-d");
    GitForce: "git", Sub("push"), Flag("-f --force --force-with-lease --mirror --delete -d --prune"), No("-n --dry-run");
    GitForce: "git", Sub("push"), Word("+* :*");
    GitForce: "git", Sub("filter-branch|filter-repo");
    GitForce: "gh", Sub("repo|release|secret delete");
    GitForce: "glab", Sub("repo delete");

    // Databases. Statements of SQL are judged apart.
    SqlDrop: "dropdb dropuser", Operand;
    SqlDrop: "mysqladmin", Word("drop");
    SqlDrop: "redis-cli", Sub("flushall|flushdb");
    SqlDrop: "mongo mongosh", Has("dropdatabase( .drop( deletemany({}) remove({})");
    SqlDrop: "rails rake php artisan npx prisma", Word("db:drop db:reset db:purge migrate:fresh migrate:reset db:wipe");
    SqlDrop: "npx prisma", Word("migrate"), Word("reset");

    // Code from elsewhere, and control by others.
    ReverseShell: "nc ncat netcat", Flag("-e -c --exec --sh-exec"), Operand;
    ReverseShell: "socat", Has("exec: system:");
    HiddenCode: "powershell pwsh", Flag("-EncodedCommand");
    HiddenCode: "powershell pwsh", Word("-e -ec");
    RemoteCode: "iex invoke-expression", Has("downloadstring iwr invoke-webrequest irm invoke-restmethod http:// https://");
    RemoteCode: "mshta regsvr32 rundll32", Has("http:// https:// javascript:");
    RemoteCode: "bitsadmin certutil", Has("/transfer -urlcache");

    // Containers and infrastructure.
    Container: "docker podman nerdctl", Sub("stop|kill|rm|restart|pause");
    Container: "docker podman nerdctl", Sub("rmi"), Flag("-f --force");
    Container: "docker podman nerdctl", Sub("container|volume|image|system|network|builder|buildx rm|prune|stop|kill|remove");
    Container: "docker podman nerdctl", Sub("compose down|stop|kill|rm|restart");
    Container: "docker podman nerdctl", Sub("stack|service|swarm|node rm|leave|remove");
    Container: "docker podman nerdctl", Sub("run|create|exec"), Flag("--privileged");
    Container: "docker podman nerdctl", Sub("run|create"), Word("/:* --pid=host /var/run/docker.sock:* -v/:* --volume=/:* --mount=type=bind,source=/,* --mount=type=bind,src=/,*");
    Container: "docker-compose podman-compose", Sub("down|stop|kill|rm|restart");
    Infrastructure: "kubectl oc", Sub("delete|drain|cordon|replace"), No("--dry-run");
    Infrastructure: "kubectl oc", Sub("scale"), Has("--replicas=0");
    Infrastructure: "helm", Sub("uninstall|delete|rollback");
    Infrastructure: "terraform tofu terragrunt", Sub("destroy");
    Infrastructure: "terraform tofu terragrunt", Sub("apply"), Has("-auto-approve -destroy");
    Infrastructure: "terraform tofu", Sub("state rm");
    Infrastructure: "pulumi cdk serverless sls", Sub("destroy|remove");
    Infrastructure: "aws", Sub("s3 rm"), Flag("--recursive");
    Infrastructure: "aws", Sub("s3 rb|sync"), Flag("--force --delete");
    Infrastructure: "aws", Word("terminate-instances delete-* remove-* deregister-*");
    Infrastructure: "gcloud az doctl heroku fly flyctl linode-cli hcloud", Word("delete destroy apps:destroy pg:reset");
    Infrastructure: "gsutil", Word("rm rb"), Flag("-r -R");
    Infrastructure: "rclone", Sub("purge|delete|sync");
    Infrastructure: "vagrant", Sub("destroy");
    Infrastructure: "virsh", Sub("destroy|undefine");
    Infrastructure: "npm yarn pnpm", Sub("unpublish");
    Infrastructure: "cargo", Sub("yank");

    // What runs later, and who may do what.
    Schedule: "crontab", Flag("-r -i -e");
    Schedule: "crontab", Operand;
    Schedule: "crontab", NoOperand, No("-l");
    Schedule: "at batch", No("-l -V -c");
    Schedule: "schtasks", Flag("/create /delete /change");
    Schedule: "register-scheduledtask", Operand;
    Schedule: "launchctl", Sub("load|bootstrap|submit");
    Accounts: "userdel useradd usermod adduser deluser groupdel groupmod chpasswd passwd visudo vipw dscl chsh", Operand;
    Accounts: "chpasswd visudo vipw";
    Accounts: "net", Sub("user|localgroup"), Flag("/add /delete");
    Protection: "iptables ip6tables", Flag("-F -X --flush");
    Protection: "iptables ip6tables", Flag("-P --policy"), Word("accept");
    Protection: "nft", Sub("flush");
    Protection: "ufw", Word("disable reset");
    Protection: "setenforce", Word("0 permissive");
    Protection: "spctl", Flag("--master-disable");
    Protection: "csrutil", Sub("disable");
    Protection: "netsh", Has("firewall advfirewall"), Word("off disable reset");
    Protection: "set-mppreference", Operand;
    Protection: "set-executionpolicy", Word("bypass unrestricted");
    Protection: "vssadmin wbadmin", Word("delete");
    Protection: "wevtutil", Sub("cl|clear-log");
    Protection: "history", Flag("-c");
    Protection: "auditctl", Flag("-D -e");
    Protection: "rmmod insmod", Operand;
    Protection: "modprobe", Flag("-r");
    Protection: "sysctl", Flag("-w --write");
    Protection: "swapoff", Flag("-a");
    Privilege: "sudo", Flag("-S --stdin -A --askpass");
};

/// How a program that runs another gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// As its own last words.
    Words,
    /// As words that are joined and read by a shell.
    Joined,
    /// As the words behind `--`.
    Dashes,
    /// As the value of one of these options, read by a shell.
    Option(&'static str),
}

/// A program that runs another.
#[derive(Debug)]
pub(super) struct Wrapper {
    pub(super) names: &'static str,
    /// The subcommands with which it does.
    pub(super) sub: &'static str,
    /// The options that take the next word.
    pub(super) values: &'static str,
    /// How many words come before the other program.
    pub(super) operands: usize,
    pub(super) rest: Rest,
}

const fn wrapper(
    names: &'static str,
    sub: &'static str,
    values: &'static str,
    operands: usize,
    rest: Rest,
) -> Wrapper {
    Wrapper { names, sub, values, operands, rest }
}

/// The options of `docker run` that take a value.
const RUN: &str = "-v --volume -e --env --env-file -p --publish --name --network --net -w --workdir -u \
    --user --entrypoint -m --memory --mount -l --label -h --hostname --cpus --add-host --device \
    --restart --shm-size --gpus --platform --ulimit --cap-add --cap-drop --security-opt --pid --ipc \
    --tmpfs -a --attach --link --dns --pull --runtime --log-driver -c --index --detach-keys";

/// What runs other programs.
pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        "",
        "-u --user -g --group -h --host -p --prompt -C --close-from -r --role -t --type -T --command-timeout -U --other-user -D --chdir -R --chroot",
        0,
        Rest::Words,
    ),
    wrapper("doas", "", "-u -C -a", 0, Rest::Words),
    wrapper("env", "", "", 0, Rest::Option("-S --split-string")),
    wrapper("env", "", "-u --unset -C --chdir -a --argv0", 0, Rest::Words),
    wrapper(
        "nohup setsid command builtin exec unbuffer rlwrap busybox toybox fakeroot pkexec dbus-run-session torify torsocks proxychains proxychains4 caffeinate firejail valgrind chronic",
        "",
        "-a -t -w -u --user",
        0,
        Rest::Words,
    ),
    wrapper("time gtime", "", "-f --format -o --output", 0, Rest::Words),
    wrapper("nice", "", "-n --adjustment", 0, Rest::Words),
    wrapper("ionice", "", "-c --class -n --classdata -p --pid", 0, Rest::Words),
    wrapper("stdbuf", "", "-i --input -o --output -e --error", 0, Rest::Words),
    wrapper("timeout gtimeout", "", "-s --signal -k --kill-after", 1, Rest::Words),
    wrapper("chroot", "", "--userspec --groups", 1, Rest::Words),
    wrapper("unshare nsenter", "", "-t --target -S -G --setuid --setgid", 0, Rest::Words),
    wrapper("systemd-run", "", "-u --unit -p --property -H -M -E --setenv --slice", 0, Rest::Words),
    wrapper("strace ltrace", "", "-o -e -p -s -a -u -E -P", 0, Rest::Words),
    wrapper("taskset chrt gosu su-exec", "", "", 1, Rest::Words),
    wrapper("flock", "", "-w --timeout -E --conflict-exit-code", 1, Rest::Words),
    wrapper("flock", "", "-w --timeout", 0, Rest::Option("-c --command")),
    wrapper("watch", "", "-n --interval -d", 0, Rest::Joined),
    wrapper(
        "ssh",
        "",
        "-i -p -l -o -F -J -L -R -D -b -c -E -e -I -m -O -Q -S -W -w -B",
        1,
        Rest::Joined,
    ),
    wrapper("wsl", "", "-d --distribution -u --user --cd", 0, Rest::Words),
    wrapper("su runuser", "", "", 0, Rest::Option("-c --command --session-command")),
    wrapper("script", "", "", 0, Rest::Option("-c --command")),
    wrapper("vagrant", "ssh", "", 0, Rest::Option("-c --command")),
    wrapper("runuser", "", "-u --user -g -G", 0, Rest::Dashes),
    wrapper(
        "tmux",
        "new-session|new|new-window|neww|split-window|send-keys|send",
        "-s -t -n -c -x -y -e",
        0,
        Rest::Joined,
    ),
    wrapper("screen", "", "-S -c -p -t -e -h -X", 0, Rest::Words),
    wrapper(
        "parallel",
        "",
        "-j --jobs -a --arg-file -S --sshlogin --colsep -n -N -I",
        0,
        Rest::Words,
    ),
    wrapper("docker podman nerdctl", "exec|run|create", RUN, 1, Rest::Words),
    wrapper("docker podman nerdctl", "compose exec|run", RUN, 1, Rest::Words),
    wrapper("docker-compose", "exec|run", RUN, 1, Rest::Words),
    wrapper("kubectl oc", "exec|run|debug", "", 0, Rest::Dashes),
    wrapper("npm pnpm yarn", "exec|dlx", "-p --package", 0, Rest::Dashes),
    wrapper("npx bunx", "", "-p --package", 0, Rest::Words),
    wrapper("npx npm", "", "", 0, Rest::Option("-c --call")),
    wrapper(
        "uv poetry pipenv pdm hatch conda micromamba bundle direnv",
        "run|exec",
        "-n --name -p --prefix --python --with --project --directory",
        0,
        Rest::Words,
    ),
    wrapper("git", "submodule foreach", "", 0, Rest::Joined),
    wrapper("git", "bisect run", "", 0, Rest::Words),
    wrapper("git", "rebase", "", 0, Rest::Option("-x --exec")),
    wrapper("nix-shell", "", "", 0, Rest::Option("--run --command")),
    wrapper("entr", "", "", 0, Rest::Words),
];

/// The options of `xargs` that take the next word.
pub(super) const XARGS: &str = "-I -i -n -P -L -l -d -E -s -a --max-args --max-procs --max-lines \
    --delimiter --eof --max-chars --arg-file --replace";

/// Shells, to which code is an argument, a file or standard input.
pub(super) const SHELLS: &str = "sh bash zsh dash ksh mksh ash fish csh tcsh rbash pdksh posh yash";

/// Programs that read SQL from their arguments or from standard input.
pub(super) const SQL: &str = "psql mysql mariadb sqlite3 sqlite sqlcmd duckdb clickhouse-client \
    clickhouse cockroach bq snowsql usql mycli pgcli litecli isql sqlplus cqlsh invoke-sqlcmd trino \
    presto hive beeline impala-shell d1 turso mssql-cli osql db2";

/// Programs that fetch something from elsewhere.
pub(super) const FETCHES: &str = "curl wget fetch aria2c http https httpie xh lynx links w3m nc ncat \
    netcat socat ftp tftp iwr irm invoke-webrequest invoke-restmethod wget2 new-object";

/// Programs that send what they are given elsewhere.
pub(super) const SENDS: &str = "curl wget nc ncat netcat socat ftp tftp sftp scp rsync ssh mail mailx \
    sendmail mutt http https httpie xh telnet openssl gh gist aws gsutil rclone iwr irm \
    invoke-webrequest invoke-restmethod nslookup dig host ping";

/// Programs that make readable what was encoded, with the option that says so; none if it needs none.
pub(super) const DECODES: &[(&str, &str)] = &[
    ("base64 base32 gbase64 basenc", "-d -D --decode"),
    ("openssl", "-d"),
    ("xxd", "-r"),
    ("uudecode gunzip zcat xzcat bzcat rev tr unxz bunzip2 lz4cat zstdcat rot13 caesar", ""),
    ("gzip xz bzip2 zstd lz4", "-d --decompress"),
    ("gpg gpg2", "-d --decrypt"),
];

/// An interpreter: names, the options after which code comes, and whether calls need no brackets.
#[derive(Debug)]
pub(super) struct Interpreter {
    pub(super) names: &'static str,
    pub(super) flags: &'static str,
    pub(super) values: &'static str,
    pub(super) is_terse: bool,
}

const fn interpreter(
    names: &'static str,
    flags: &'static str,
    values: &'static str,
    is_terse: bool,
) -> Interpreter {
    Interpreter { names, flags, values, is_terse }
}

/// What runs code that is no shell's.
pub(super) const INTERPRETERS: &[Interpreter] = &[
    interpreter("python python2 python3 pypy pypy3 py ipython", "-c", "-W -X", false),
    interpreter("perl", "-e -E", "-I -M -m", true),
    interpreter("ruby", "-e", "-I -r", true),
    interpreter("node nodejs bun", "-e -p --eval --print -pe", "-r --require", false),
    interpreter("deno", "eval", "", false),
    interpreter("php", "-r -B -R -E", "-d", false),
    interpreter("lua luajit", "-e", "-l", false),
    interpreter("osascript", "-e", "-l", true),
    interpreter("rscript r", "-e", "", false),
    interpreter("julia elixir groovy scala swift", "-e -E --eval", "", false),
];

/// Programs whose first operand is code.
pub(super) const AWKS: &str = "awk gawk mawk nawk";
