use super::*;
use crate::message::{Call, CallStatus, Part, Role, Usage};

fn calling(ids: &[&str]) -> Message {
    let parts = ids.iter().map(|id| Part::Call(Call::new(*id, "ping", "{}"))).collect();
    Message::new(Role::Assistant, parts).with_stop(StopReason::ToolCalls)
}

fn limited(requests: u32) -> Turn {
    Turn::new(Limits { requests, ..Limits::default() })
}

#[test]
fn calls_are_run_and_the_model_is_asked_again() {
    let mut turn = limited(9);

    turn.apply(&Outcome::Replied(&calling(&["a", "b"])));
    assert_eq!(turn.next_step(), Step::RunTools(vec!["a".into(), "b".into()]));
    turn.apply(&Outcome::ToolsRan);
    assert_eq!(turn.next_step(), Step::Deliver);
    turn.apply(&Outcome::NothingToAppend);
    assert_eq!(turn.next_step(), Step::CallModel);
    assert_eq!((turn.requests(), turn.tool_rounds()), (1, 1));
}

#[test]
fn a_spent_budget_ends_in_one_grace_request() {
    let mut turn = limited(2);

    turn.apply(&Outcome::Replied(&calling(&["a"])));
    turn.apply(&Outcome::ToolsRan);
    turn.apply(&Outcome::NothingToAppend);
    assert_eq!(turn.next_step(), Step::Grace);
    turn.apply(&Outcome::Appended);
    assert_eq!(turn.next_step(), Step::CallModel);
    assert!(turn.is_in_grace());
    turn.apply(&Outcome::Replied(&calling(&["b"])));
    assert_eq!(turn.next_step(), Step::Finish(Finish::OutOfRounds));
    assert_eq!(turn.requests(), 2);
}

#[test]
fn a_budget_of_one_request_has_no_grace() {
    let mut turn = limited(1);

    turn.apply(&Outcome::Replied(&calling(&["a"])));
    turn.apply(&Outcome::ToolsRan);
    turn.apply(&Outcome::NothingToAppend);

    assert_eq!(turn.next_step(), Step::Finish(Finish::OutOfRounds));
}

#[test]
fn calls_of_a_refusing_reply_do_not_run() {
    let mut turn = limited(9);

    turn.apply(&Outcome::Replied(&calling(&["a"]).with_stop(StopReason::Refusal)));

    assert_eq!(turn.next_step(), Step::Finish(Finish::Refused));
}

#[test]
fn what_was_sent_during_the_answer_is_answered_too() {
    let mut turn = limited(9);

    turn.apply(&Outcome::Replied(&Message::assistant("done").with_stop(StopReason::EndTurn)));
    assert_eq!(turn.next_step(), Step::Deliver);
    turn.apply(&Outcome::Appended);

    assert_eq!(turn.next_step(), Step::CallModel);
}

#[test]
fn what_was_sent_during_the_last_answer_waits_for_the_next_turn() {
    let done = Message::assistant("done").with_stop(StopReason::EndTurn);
    for requests in [1, 2] {
        let mut turn = limited(requests);
        turn.apply(&Outcome::Replied(&done));
        assert_eq!((turn.next_step(), turn.may_deliver()), (Step::Deliver, false));

        turn.apply(&Outcome::NothingToAppend);
        assert_eq!(turn.next_step(), Step::Finish(Finish::Answered));
    }
    let mut turn = limited(1);
    turn.apply(&Outcome::Replied(&done));
    turn.apply(&Outcome::Appended);
    assert_eq!(turn.next_step(), Step::Finish(Finish::Answered));
}

#[test]
fn an_answer_of_which_reasoning_took_all_is_not_continued() {
    let mut turn = limited(9);
    let thought = Part::Reasoning(crate::message::Reasoning::new("hm"));
    let reply = Message::new(Role::Assistant, vec![thought]).with_stop(StopReason::Length);

    turn.apply(&Outcome::Replied(&reply));

    assert_eq!(turn.next_step(), Step::Finish(Finish::Length));
}

#[test]
fn an_empty_reply_is_asked_for_again_once() {
    let mut turn = limited(9);
    let empty = Message::assistant(" ").with_stop(StopReason::EndTurn);

    turn.apply(&Outcome::Replied(&empty));
    assert_eq!(turn.next_step(), Step::CallModel);
    turn.apply(&Outcome::Replied(&empty));
    assert_eq!(turn.next_step(), Step::Finish(Finish::Empty));
}

#[test]
fn a_cut_answer_is_continued_and_then_given_up() {
    let mut turn = Turn::new(Limits { continuations: 1, ..Limits::default() });
    let cut = Message::assistant("and").with_stop(StopReason::Length);

    turn.apply(&Outcome::Replied(&cut));
    assert_eq!(turn.next_step(), Step::Continue);
    turn.apply(&Outcome::Appended);
    turn.apply(&Outcome::Replied(&cut));
    assert_eq!(turn.next_step(), Step::Finish(Finish::Length));
}

#[test]
fn room_is_made_before_a_request_and_only_so_often() {
    let mut turn = limited(9);

    turn.apply(&Outcome::TooLong(CompressCause::Threshold));
    assert_eq!(turn.next_step(), Step::Compress(CompressCause::Threshold));
    turn.apply(&Outcome::Compressed(Usage::new(30, 3)));
    assert_eq!((turn.next_step(), turn.tokens()), (Step::CallModel, 33));
    assert!(!turn.may_compress(CompressCause::Threshold));

    for _ in 0..2 {
        assert!(turn.may_compress(CompressCause::Overflow));
        turn.apply(&Outcome::TooLong(CompressCause::Overflow));
        turn.apply(&Outcome::NotCompressed);
    }
    assert!(!turn.may_compress(CompressCause::Overflow));
    assert_eq!(turn.requests(), 0);
    turn.apply(&Outcome::Replied(&calling(&["a"])));
    assert!(turn.may_compress(CompressCause::Threshold));
}

#[test]
fn tokens_are_a_limit_too() {
    let mut turn = Turn::new(Limits { tokens: Some(10), ..Limits::default() });

    turn.apply(&Outcome::Replied(&calling(&["a"]).with_usage(Usage::new(8, 2))));
    turn.apply(&Outcome::ToolsRan);
    turn.apply(&Outcome::Appended);

    assert_eq!(turn.next_step(), Step::Grace);
}

#[test]
fn calls_run_when_every_one_that_needs_it_is_decided() {
    let mut turn = limited(9);
    turn.apply(&Outcome::Replied(&calling(&["a", "b", "c"])));

    turn.apply(&Outcome::ApprovalNeeded(&["c".into(), "a".into(), "z".into()]));
    assert_eq!(turn.next_step(), Step::AwaitApproval(vec!["a".into(), "c".into()]));
    turn.apply(&Outcome::Decided(&[("b".into(), Ruling::Allowed), ("a".into(), Ruling::Held)]));
    assert_eq!(turn.next_step(), Step::AwaitApproval(vec!["c".into()]));
    turn.apply(&Outcome::Decided(&[("c".into(), Ruling::Allowed)]));
    assert_eq!(turn.next_step(), Step::RunTools(vec!["a".into(), "b".into(), "c".into()]));
    assert_eq!(turn.rulings(), [("a".into(), Ruling::Held), ("c".into(), Ruling::Allowed)]);
    turn.apply(&Outcome::ToolsRan);
    assert_eq!(turn.rulings(), []);
}

#[test]
fn a_turn_stored_while_it_waits_keeps_what_was_decided() {
    let mut turn = limited(9);
    turn.apply(&Outcome::Replied(&calling(&["a", "b"])));
    turn.apply(&Outcome::ApprovalNeeded(&["a".into(), "b".into()]));
    turn.apply(&Outcome::Decided(&[("a".into(), Ruling::Denied("no".to_owned()))]));

    let stored = serde_json::to_string(&turn).unwrap();
    let restored: Turn = serde_json::from_str(&stored).unwrap();

    assert_eq!(restored, turn);
    assert_eq!(restored.next_step(), Step::AwaitApproval(vec!["b".into()]));
}

#[test]
fn approval_matters_only_before_calls_run() {
    let mut turn = limited(9);

    turn.apply(&Outcome::ApprovalNeeded(&["a".into()]));
    turn.apply(&Outcome::Decided(&[("a".into(), Ruling::Allowed)]));

    assert_eq!(turn.next_step(), Step::CallModel);
    assert_eq!(turn.rulings(), []);
}

#[test]
fn money_is_a_limit_too() {
    let mut turn = Turn::new(Limits { cost: Some(Cost::from_cents(5)), ..Limits::default() });

    turn.spend(Cost::from_cents(5));
    turn.apply(&Outcome::Replied(&calling(&["a"])));
    turn.apply(&Outcome::ToolsRan);
    turn.apply(&Outcome::NothingToAppend);

    assert_eq!(turn.next_step(), Step::Grace);
}

#[test]
fn a_turn_whose_shared_budget_is_spent_sums_up_or_does_not_begin() {
    let (mut late, mut early) = (limited(9), limited(9));

    late.apply(&Outcome::Replied(&calling(&["a"])));
    late.exhaust();
    late.apply(&Outcome::ToolsRan);
    late.apply(&Outcome::NothingToAppend);
    early.exhaust();

    assert_eq!(late.next_step(), Step::Grace);
    assert_eq!(early.next_step(), Step::Finish(Finish::OutOfRounds));
}

#[test]
fn a_stored_turn_goes_on_with_the_same_step() {
    let mut turn = limited(9);
    turn.apply(&Outcome::Replied(&calling(&["a"])));

    let stored = serde_json::to_string(&turn).unwrap();
    let restored: Turn = serde_json::from_str(&stored).unwrap();

    assert_eq!(restored.next_step(), turn.next_step());
    assert_eq!(restored, turn);
}

#[test]
fn a_stored_turn_knows_how_far_its_calls_came() {
    let mut turn = limited(9);
    turn.apply(&Outcome::Replied(&calling(&["a", "b", "c"])));
    let result = CallResult::new("a".into(), CallStatus::Done, "ok");

    turn.apply(&Outcome::CallsStarted {
        started: &["b".into()],
        finished: std::slice::from_ref(&result),
    });
    let stored = serde_json::to_string(&turn).unwrap();
    let mut turn: Turn = serde_json::from_str(&stored).unwrap();

    assert_eq!(turn.next_step(), Step::RunTools(vec!["a".into(), "b".into(), "c".into()]));
    assert_eq!(turn.finished(&"a".into()), Some(&result));
    assert!(turn.has_started(&"b".into()) && !turn.has_started(&"c".into()));
    let next = CallResult::new("b".into(), CallStatus::Done, "ok");
    turn.apply(&Outcome::CallsStarted { started: &["c".into()], finished: &[next] });
    assert!(turn.has_started(&"c".into()) && !turn.has_started(&"b".into()));
    assert!(turn.finished(&"a".into()).is_some() && turn.finished(&"b".into()).is_some());
    turn.apply(&Outcome::ToolsRan);
    assert!(!turn.has_started(&"c".into()));
}

#[test]
fn nothing_happens_after_the_end() {
    let mut turn = limited(9);
    turn.apply(&Outcome::Cancelled);

    turn.apply(&Outcome::Replied(&calling(&["a"])));

    assert_eq!(turn.next_step(), Step::Finish(Finish::Cancelled));
}
