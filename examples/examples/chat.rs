//! A terminal chat with any OpenAI-compatible endpoint, with memory, skills and a review after the
//! answer.
//!
//! ```text
//! cargo run -p hermes-examples --example chat -- --base-url http://127.0.0.1:8000/v1 --model local
//! ```
//!
//! The key is taken from `OPENAI_API_KEY`, if that is set. Ctrl-C cancels the answer and keeps the
//! conversation; at the prompt it ends the chat, as Ctrl-D does. Input may come from a pipe.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program's output is what it is for"
)]

use std::{
    error::Error,
    io::{ErrorKind, IsTerminal, Write},
    path::PathBuf,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use clap::Parser;
use futures::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use hermes_core::{
    Agent, Session,
    agent::{AgentEvent, Finish, FinishedTurn, ReviewHandle},
    clock::{Clock, SystemClock},
    message::CallStatus,
    provider::ToolChoice,
    review::{ReviewOutcome, ReviewReport},
    tool::{self, ToolSpec},
};
use hermes_memory::{FileMemory, Memory};
use hermes_providers::{
    ApiKey, Backoff, OpenAiChat, OpenAiChatBuilder, Retry, Timeouts, openai::Preset,
};
use hermes_review::{Intervals, NudgePolicy};
use hermes_skills::{FsSkills, Skills};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines, Stdin},
    sync::mpsc,
};

/// Why the program cannot go on.
type Failure = Box<dyn Error + Send + Sync>;

/// Talks to a model that remembers.
#[derive(Debug, Parser)]
struct Options {
    /// Where the endpoint is, with `/v1` if it has one. By default where the preset says, or else
    /// at <http://127.0.0.1:8000/v1>.
    #[arg(long)]
    base_url: Option<String>,
    /// What kind of endpoint it is, such as openai, openrouter, ollama or llama-cpp-python.
    #[arg(long, value_parser = preset)]
    preset: Option<Preset>,
    /// The model, as the endpoint calls it.
    #[arg(long, default_value = "local")]
    model: String,
    /// The folder that memory and skills are kept in.
    #[arg(long, default_value = "hermes-home")]
    home: PathBuf,
    /// What the first request of a turn does about tools: auto, none, required, or the name of one.
    #[arg(long, default_value = "auto", value_parser = tool_choice)]
    tool_choice: ToolChoice,
    /// User turns between two reviews of memory; 0 for none.
    #[arg(long, default_value_t = 10)]
    memory_turns: u32,
    /// Rounds of tool calls between two reviews of skills; 0 for none.
    #[arg(long, default_value_t = 10)]
    skill_rounds: u32,
    /// How often a request that failed before its answer began is sent again.
    #[arg(long, default_value_t = 3)]
    retries: u32,
    /// Shows the system prompt before the first message.
    #[arg(long)]
    show_prompt: bool,
}

fn preset(name: &str) -> Result<Preset, String> {
    let names = || Preset::ALL.iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
    Preset::named(name).ok_or_else(|| format!("the presets are {}", names()))
}

#[expect(clippy::unnecessary_wraps, reason = "the form that the argument parser asks for")]
fn tool_choice(text: &str) -> Result<ToolChoice, String> {
    Ok(match text {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "required" => ToolChoice::Required,
        name => ToolChoice::Tool(name.into()),
    })
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async { Chat::open(&options).await?.run().await });
    // A read of the terminal that is still waiting must not keep the program.
    runtime.shutdown_background();
    ended
}

fn endpoint(options: &Options) -> OpenAiChatBuilder {
    let url = |preset: &str| options.base_url.as_deref().unwrap_or(preset).to_owned();
    match &options.preset {
        None => OpenAiChat::builder(url("http://127.0.0.1:8000/v1")).timeouts(Timeouts::local()),
        Some(preset) => OpenAiChat::builder(url(preset.base_url))
            .name(preset.name)
            .dialect(preset.dialect)
            .timeouts(preset.timeouts),
    }
}

fn agent(options: &Options) -> Result<Agent, Failure> {
    let mut endpoint = endpoint(options);
    #[expect(clippy::disallowed_methods, reason = "a program may read its environment")]
    if let Ok(key) = std::env::var("OPENAI_API_KEY") {
        endpoint = endpoint.key(ApiKey::new(key)?);
    }
    let backoff = Backoff::default().with_retries(options.retries);
    let now =
        tool::from_fn("current_time", "Tells the current time.", |(): (), context| async move {
            let since = context.clock().now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Ok(format!("{} seconds since 1970 (UTC)", since.as_secs()))
        });
    let agent = Agent::builder(Retry::new(endpoint.build()?).with_backoff(backoff))
        .model(options.model.as_str())
        .identity("You are a helpful assistant in a terminal. Answer in plain text.")
        .tool_choice(options.tool_choice.clone())
        .tool(now.configure(ToolSpec::read_only))
        .memory(Memory::new(FileMemory::new(&options.home)))
        .skills(Skills::new(FsSkills::new(&options.home)))
        .review(NudgePolicy::new(Intervals::new(options.memory_turns, options.skill_rounds)))
        .build()?;
    Ok(agent)
}

/// The chat: its conversation, its input, and the reviews that are under way.
struct Chat {
    agent: Agent,
    session: Session,
    input: Lines<BufReader<Stdin>>,
    reviews: FuturesUnordered<BoxFuture<'static, Option<Arc<ReviewReport>>>>,
    interrupts: Interrupts,
    is_terminal: bool,
}

/// The Ctrl-Cs, none of which is lost while nobody waits for one.
struct Interrupts(mpsc::UnboundedReceiver<()>);

impl Interrupts {
    fn listen() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        #[expect(clippy::disallowed_methods, reason = "it ends with the program")]
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() && sender.send(()).is_ok() {}
        });
        Self(receiver)
    }

    /// Waits for the next one; for ever, where there are no signals.
    async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// What came while the chat waited for its user.
enum Heard {
    Line(String),
    /// A line that is no text.
    Unreadable(std::io::Error),
    Review(Option<Arc<ReviewReport>>),
    End,
}

impl Chat {
    async fn open(options: &Options) -> Result<Self, Failure> {
        let agent = agent(options)?;
        if options.show_prompt {
            println!("{}\n", agent.system_prompt().await.text);
        }
        Ok(Self {
            session: agent.session(),
            agent,
            input: BufReader::new(tokio::io::stdin()).lines(),
            reviews: FuturesUnordered::new(),
            interrupts: Interrupts::listen(),
            is_terminal: std::io::stdin().is_terminal(),
        })
    }

    async fn run(mut self) -> Result<(), Failure> {
        loop {
            self.prompt()?;
            match self.listen().await? {
                Heard::Line(line) if line.trim().is_empty() => {}
                Heard::Line(line) => self.turn(&line).await?,
                Heard::Unreadable(err) => eprintln!("[error: the line cannot be read: {err}]"),
                Heard::Review(report) => show_review(report.as_deref()),
                Heard::End => break,
            }
        }
        self.wait_for_reviews().await;
        Ok(())
    }

    /// Shows the reviews that are under way when they are over. Ctrl-C ends them.
    async fn wait_for_reviews(&mut self) {
        loop {
            tokio::select! {
                report = self.reviews.next() => match report {
                    Some(report) => show_review(report.as_deref()),
                    None => break self.agent.settled().await,
                },
                () = self.interrupts.next() => break self.agent.shutdown().await,
            }
        }
    }

    fn prompt(&self) -> Result<(), Failure> {
        if self.is_terminal {
            print!("\n> ");
            std::io::stdout().flush()?;
        }
        Ok(())
    }

    async fn listen(&mut self) -> Result<Heard, Failure> {
        tokio::select! {
            line = self.input.next_line() => match line {
                Ok(line) => Ok(line.map_or(Heard::End, Heard::Line)),
                Err(err) if err.kind() == ErrorKind::InvalidData => Ok(Heard::Unreadable(err)),
                Err(err) => Err(err.into()),
            },
            Some(report) = self.reviews.next() => Ok(Heard::Review(report)),
            () = self.interrupts.next() => Ok(Heard::End),
        }
    }

    /// One message and its answer. An error is shown and the chat goes on.
    async fn turn(&mut self, line: &str) -> Result<(), Failure> {
        let start = SystemClock.now();
        let mut reply = self.session.send(line);
        loop {
            tokio::select! {
                event = reply.next() => match event {
                    Some(event) => show_event(&event)?,
                    None => break,
                },
                () = self.interrupts.next() => self.session.cancel(),
            }
        }
        match reply.await {
            Ok(turn) => {
                show_end(&turn, start);
                self.reviews.extend(turn.review.map(report_of));
            }
            Err(err) => eprintln!("\n[error: {}]", err.describe()),
        }
        Ok(())
    }
}

fn report_of(review: ReviewHandle) -> BoxFuture<'static, Option<Arc<ReviewReport>>> {
    Box::pin(review.into_future())
}

fn show_event(event: &AgentEvent) -> Result<(), Failure> {
    match event {
        AgentEvent::Text(delta) => {
            print!("{delta}");
            std::io::stdout().flush()?;
        }
        AgentEvent::CallStarted(call) => {
            println!("\n[{} {}]", call.name, call.arguments.as_str());
        }
        AgentEvent::CallFinished(result) if result.status != CallStatus::Done => {
            println!("[{:?}: {}]", result.status, result.content);
        }
        AgentEvent::Changed(change) => println!("[{}]", change.line()),
        AgentEvent::Warning(warning) => eprintln!("[warning: {warning}]"),
        _ => {}
    }
    Ok(())
}

fn show_end(turn: &FinishedTurn, start: SystemTime) {
    let took = SystemClock.now().duration_since(start).unwrap_or_default().as_secs_f32();
    let end = match &turn.finish {
        Finish::Answered => String::new(),
        Finish::Cancelled => "cancelled, ".to_owned(),
        other => format!("{other:?}, "),
    };
    let usage = turn.usage;
    println!("\n[{end}{} + {} tokens, {took:.1} s]", usage.input, usage.output);
}

fn show_review(report: Option<&ReviewReport>) {
    let Some(report) = report else { return };
    match &report.outcome {
        ReviewOutcome::Failed(reason) => eprintln!("[review failed: {reason}]"),
        _ if report.changes.is_empty() => println!("[review: nothing to save]"),
        _ => {
            println!("[review: {}]", report.lines().join(", "));
        }
    }
}
