//! `flakeproof notify`: what is new, sent to a webhook.
//!
//! What was told is remembered by its ids, in a file beside the project's own history, for each webhook by
//! itself. The first time only what happened lately is told, and all else is taken as known: nobody wants
//! a year of news at once. Where jobs forget that file, `--since` tells the news of a time instead, and
//! their ids tell a receiver what it has heard already.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flakeproof_core::ExitCode;
use flakeproof_report::{NewsItem, news_items};
use flakeproof_web::{Delivery, Secret, Tries, Webhook, WebhookError};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::cli::{NotifyArguments, Since};
use crate::problem::Problem;
use crate::session::current_folder;
use crate::session::overview::{Explain, OverviewReader};
use crate::view;

/// Where the secret is without anybody seeing it in a list of processes.
const SECRET: &str = "FLAKEPROOF_WEBHOOK_SECRET";

/// How often a delivery is tried before the news wait for the next time.
const TRIES: Tries = Tries { most: 4, pause: Duration::from_millis(500) };

/// What happened in this time is told the first time.
const LATELY: SignedDuration = SignedDuration::from_hours(24);

/// So many items are named in the text for a chat.
const MOST_LINES: usize = 20;

/// Run the command.
pub(crate) fn run(typed: &NotifyArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let webhook = webhook(typed)?;
    let (reader, history) = OverviewReader::open(typed.store.as_ref(), &folder, Explain::Nothing)?;
    let overview = reader.read(&*history)?;
    let own = reader.folder_of_history();
    let memory = match (&typed.memory, &webhook) {
        (Some(path), _) => Memory::read(folder.join(path))?,
        (None, Some(webhook)) => Memory::read(own.join(format!("told-{}.txt", webhook.name())))?,
        (None, None) => Memory::read(own.join("told.txt"))?,
    };
    let now = Timestamp::now();
    let since = match (typed.since, memory.is_new) {
        (Some(since), _) => Some(since),
        (None, true) => Some(Since::Ago(LATELY)),
        (None, false) => None,
    };
    let since = since.map(|since| since.moment(now)).unwrap_or_default();
    let all = news_items(&overview);
    let is_theirs = |item: &&NewsItem| {
        let is_owner = |owner: &String| {
            typed.owner.as_ref().is_some_and(|wanted| wanted.eq_ignore_ascii_case(owner))
        };
        typed.owner.is_none() || item.facts.owners.iter().any(is_owner)
    };
    let theirs: Vec<&NewsItem> = all.iter().filter(is_theirs).collect();
    let news: Vec<&NewsItem> = theirs
        .iter()
        .copied()
        .filter(|item| *item.date_published >= *since && !memory.has(item))
        .collect();
    let body = body(&overview.project, &overview.made, &news);
    if typed.dry_run {
        view::verbatim(&format!("{body:#}\n"));
        return Ok(ExitCode::Clean);
    }
    let Some(webhook) = webhook else { return Err(no_webhook()) };
    if news.is_empty() {
        memory.keep(&theirs)?;
        view::nothing_new(&webhook.server());
        return Ok(ExitCode::Clean);
    }
    let delivery = Delivery {
        id: id_of(&news),
        timestamp: now.as_second(),
        body: body.to_string().into_bytes(),
    };
    match webhook.send(&delivery, TRIES) {
        Ok(_) => {
            memory.keep(&theirs)?;
            view::notified(news.len(), &webhook.server());
            Ok(ExitCode::Clean)
        }
        Err(error) => {
            let problem = undelivered(&error, news.len());
            if typed.strict {
                return Err(problem);
            }
            view::problem(&Problem { exit: ExitCode::Clean, ..problem });
            Ok(ExitCode::Clean)
        }
    }
}

/// The webhook that was named, if any.
fn webhook(typed: &NotifyArguments) -> Result<Option<NamedWebhook>, Problem> {
    let Some(url) = typed.webhook.as_deref().filter(|url| !url.trim().is_empty()) else {
        return if typed.dry_run { Ok(None) } else { Err(no_webhook()) };
    };
    let secret = std::env::var(SECRET).ok().filter(|text| !text.trim().is_empty());
    let secret = match (secret, typed.unsigned) {
        (_, true) => None,
        (None, false) if typed.dry_run => None,
        (None, false) => {
            return Err(Problem::usage(
                "there is no secret to sign with",
                format!(
                    "set `{SECRET}` to what the receiver knows, too (`openssl rand -hex 32` makes one), or \
                     add `--unsigned` for a chat whose address is the secret"
                ),
            ));
        }
        (Some(text), false) => Some(Secret::parse(&text).map_err(|error| {
            Problem::usage(
                format!("`{SECRET}` cannot be used: {error}"),
                "make one with `openssl rand -hex 32`, and give it to the receiver, too",
            )
        })?),
    };
    let webhook = Webhook::new(url, secret).map_err(|error| {
        Problem::usage(error.to_string(), "write the whole address after `--webhook`")
    })?;
    let owner = typed.owner.as_deref().unwrap_or_default().to_lowercase();
    let name = format!("{}\n{owner}", url.trim());
    let name = blake3::hash(name.as_bytes()).to_hex()[..12].to_owned();
    Ok(Some(NamedWebhook { webhook, name }))
}

fn no_webhook() -> Problem {
    Problem::usage(
        "no webhook is named",
        "add `--webhook URL` or set `FLAKEPROOF_WEBHOOK`; `--dry-run` shows what would be sent",
    )
}

/// A webhook with a name that tells nothing of its address.
struct NamedWebhook {
    webhook: Webhook,
    name: String,
}

impl NamedWebhook {
    fn name(&self) -> &str {
        &self.name
    }
}

impl std::ops::Deref for NamedWebhook {
    type Target = Webhook;

    fn deref(&self) -> &Webhook {
        &self.webhook
    }
}

/// What is sent: the items for programs, and a text that chats show.
fn body(project: &str, made: &str, news: &[&NewsItem]) -> Value {
    let mut lines: Vec<String> = news
        .iter()
        .take(MOST_LINES)
        .map(|item| {
            let owners = item.facts.owners.join(" ");
            if owners.is_empty() {
                item.title.clone()
            } else {
                format!("{} ({owners})", item.title)
            }
        })
        .collect();
    if news.len() > MOST_LINES {
        lines.push(format!("and {} more", news.len() - MOST_LINES));
    }
    json!({
        "schema": 1,
        "type": "flakeproof.news",
        "timestamp": made,
        "project": project,
        "text": format!("{project}\n{}", lines.join("\n")),
        "items": news,
    })
}

/// The same for the same news, whoever tells them and when.
fn id_of(news: &[&NewsItem]) -> String {
    let mut hasher = blake3::Hasher::new();
    let ids: BTreeSet<&str> = news.iter().map(|item| item.id.as_str()).collect();
    for id in ids {
        hasher.update(id.as_bytes()).update(b"\n");
    }
    format!("msg_{}", &hasher.finalize().to_hex()[..24])
}

fn undelivered(error: &WebhookError, items: usize) -> Problem {
    let items = if items == 1 { "1 item is".to_owned() } else { format!("{items} items are") };
    let next = match error {
        WebhookError::Refused { status, .. }
            if status.starts_with("401") || status.starts_with("403") =>
        {
            format!("check that the receiver has the secret of `{SECRET}`")
        }
        WebhookError::Refused { status, .. } if status.starts_with('3') => {
            "name the address that it leads to: redirects are not followed".to_owned()
        }
        WebhookError::Refused { .. } => "look at what the receiver's log says".to_owned(),
        WebhookError::Unreachable { .. }
        | WebhookError::Address
        | WebhookError::Secret(_)
        | WebhookError::Run(_) => "check the address after `--webhook`".to_owned(),
    };
    Problem::broken(
        format!("{error}; {items} not sent"),
        format!("{next}; the next `flakeproof notify` sends what this one did not"),
    )
}

/// What was told already.
struct Memory {
    path: PathBuf,
    told: BTreeSet<String>,
    is_new: bool,
}

impl Memory {
    fn read(path: PathBuf) -> Result<Self, Problem> {
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let told = text.lines().map(str::to_owned).collect();
                Ok(Self { path, told, is_new: false })
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(Self { path, told: BTreeSet::new(), is_new: true })
            }
            Err(error) => Err(Problem::usage(
                format!("what was told cannot be read from {}: {error}", path.display()),
                "name another file with `--memory`",
            )),
        }
    }

    fn has(&self, item: &NewsItem) -> bool {
        self.told.contains(&item.id)
    }

    /// Take all of these as told. What is no news any more need not be remembered.
    fn keep(&self, all: &[&NewsItem]) -> Result<(), Problem> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let write = || {
            std::fs::create_dir_all(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            let ids: BTreeSet<&str> = all.iter().map(|item| item.id.as_str()).collect();
            for id in ids {
                writeln!(file, "{id}")?;
            }
            file.persist(&self.path).map_err(|error| error.error)?;
            Ok::<(), std::io::Error>(())
        };
        write().map_err(|error| {
            Problem::broken(
                format!("what was told cannot be kept in {}: {error}", self.path.display()),
                "name a file that can be written with `--memory`; else it will be told again",
            )
        })
    }
}
