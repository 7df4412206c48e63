//! One graph, two hosts: a loop that blocks, and one on an async runtime whose stages run at the
//! same time.

use ctxc::runtime::{
    AgentOutput, Effect, Event, Next, Obstacle, Pipeline, PipelineState, PipelineStatus,
    StageGraph, Visit,
};
use pretty_assertions::assert_eq;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::{Barrier, mpsc};

/// Four inputs at once, then a sum that is checked twice.
struct Sums;

const INPUTS: [&str; 4] = ["one", "two", "three", "four"];

impl StageGraph for Sums {
    fn start(&self) -> Vec<String> {
        INPUTS.map(str::to_owned).to_vec()
    }

    fn next(&self, at: &Visit, state: &PipelineState) -> Next {
        let are_there = INPUTS
            .iter()
            .all(|input| state.results().contains_key(*input));
        match at.stage.as_str() {
            "sum" if at.number < 2 => Next::run("sum"),
            "sum" => Next::Complete,
            _ if are_there => Next::run("sum"),
            _ => Next::Wait,
        }
    }

    fn max_visits(&self, _: &str) -> u32 {
        2
    }
}

/// The answer of an agent: the same for every host.
fn answer(visit: &Visit, state: &PipelineState) -> Result<AgentOutput, Obstacle> {
    if visit.number > 2 {
        return Err(Obstacle::new("loop", "nobody asks a third time"));
    }
    let length = |input: &&str| state.text(input).len();
    Ok(if visit.stage == "sum" {
        AgentOutput::complete(INPUTS.iter().map(length).sum::<usize>())
    } else {
        AgentOutput::complete(visit.stage.repeat(2))
    })
}

async fn host(pipeline: &Pipeline<Sums>) -> PipelineState {
    let (mut state, mut effects) = pipeline.begin();
    let (sender, mut events) = mpsc::unbounded_channel();
    // No input answers before all of them have started.
    let barrier = Arc::new(Barrier::new(INPUTS.len()));
    loop {
        for effect in effects {
            let Effect::Run(visit) = effect else { continue };
            let (state, sender, barrier) = (state.clone(), sender.clone(), Arc::clone(&barrier));
            tokio::spawn(async move {
                if visit.stage != "sum" {
                    barrier.wait().await;
                }
                let event = match answer(&visit, &state) {
                    Ok(output) => Event::Finished { visit, output },
                    Err(obstacle) => Event::Failed { visit, obstacle },
                };
                let _ = sender.send(event);
            });
        }
        if state.status() != PipelineStatus::Running {
            return state;
        }
        let event = tokio::time::timeout(Duration::from_mins(1), events.recv()).await;
        effects = pipeline.step(&mut state, event.unwrap().unwrap());
    }
}

#[test]
fn a_blocking_loop_and_an_async_host_run_the_same_graph() {
    let pipeline = Pipeline::new(Sums);
    let blocking = pipeline.run(answer);
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let hosted = runtime.block_on(host(&pipeline));
    assert_eq!(
        (hosted.status(), hosted.text("sum")),
        (PipelineStatus::Complete, "30".into())
    );
    assert_eq!(
        (hosted.results(), hosted.visits("sum")),
        (blocking.results(), blocking.visits("sum"))
    );
}
