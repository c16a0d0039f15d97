//! Fails running queries when an executor is lost.
//!
//! Ballista 55 runs lost tasks again, but beside what is left of the first run: queries hang, or rows come twice. An
//! error is better than wrong rows.

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::error::Result;
use ballista_core::serde::protobuf::ExecutorHeartbeat;
use ballista_core::serde::scheduler::{ExecutorData, ExecutorMetadata};
use ballista_scheduler::cluster::{BoundTask, ClusterState, ClusterStateEventStream, ExecutorSlot};
use ballista_scheduler::config::TaskDistributionPolicy;
use ballista_scheduler::scheduler_server::SchedulerServer;
use ballista_scheduler::state::task_manager::JobInfoCache;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

pub(crate) type Scheduler = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// A cluster state that ends running queries before it forgets an executor.
pub(crate) struct LostExecutors {
    state: Arc<dyn ClusterState>,
    scheduler: Arc<OnceLock<Scheduler>>,
}

impl LostExecutors {
    /// `scheduler` is set once it is created.
    pub(crate) fn new(state: Arc<dyn ClusterState>, scheduler: Arc<OnceLock<Scheduler>>) -> Self {
        LostExecutors { state, scheduler }
    }

    /// Cancels all running queries. The scheduler handles the tasks of the lost executor after that, and finds none.
    async fn end_queries(&self, executor: &str) -> Result<()> {
        let Some(scheduler) = self.scheduler.get() else { return Ok(()) };
        let running: Vec<JobId> =
            scheduler.state.task_manager.get_running_job_cache().keys().cloned().collect();
        for job in running {
            log::error!("executor {executor} is lost: query {job} is ended");
            scheduler.cancel_job(job).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl ClusterState for LostExecutors {
    async fn init(&self) -> Result<()> {
        self.state.init().await
    }

    async fn bind_schedulable_tasks(
        &self,
        distribution: TaskDistributionPolicy,
        active_jobs: Arc<HashMap<JobId, JobInfoCache>>,
        executors: Option<HashSet<String>>,
    ) -> Result<Vec<BoundTask>> {
        self.state.bind_schedulable_tasks(distribution, active_jobs, executors).await
    }

    async fn unbind_tasks(&self, executor_slots: Vec<ExecutorSlot>) -> Result<()> {
        self.state.unbind_tasks(executor_slots).await
    }

    async fn register_executor(&self, metadata: ExecutorMetadata, spec: ExecutorData) -> Result<()> {
        self.state.register_executor(metadata, spec).await
    }

    async fn save_executor_metadata(&self, metadata: ExecutorMetadata) -> Result<()> {
        self.state.save_executor_metadata(metadata).await
    }

    async fn get_executor_metadata(&self, executor_id: &str) -> Result<ExecutorMetadata> {
        self.state.get_executor_metadata(executor_id).await
    }

    async fn registered_executor_metadata(&self) -> Vec<ExecutorMetadata> {
        self.state.registered_executor_metadata().await
    }

    async fn save_executor_heartbeat(&self, heartbeat: ExecutorHeartbeat) -> Result<()> {
        self.state.save_executor_heartbeat(heartbeat).await
    }

    async fn remove_executor(&self, executor_id: &str) -> Result<()> {
        self.end_queries(executor_id).await?;
        self.state.remove_executor(executor_id).await
    }

    fn executor_heartbeats(&self) -> HashMap<String, ExecutorHeartbeat> {
        self.state.executor_heartbeats()
    }

    fn get_executor_heartbeat(&self, executor_id: &str) -> Option<ExecutorHeartbeat> {
        self.state.get_executor_heartbeat(executor_id)
    }

    async fn cluster_state_events(&self) -> Result<ClusterStateEventStream> {
        self.state.cluster_state_events().await
    }
}
