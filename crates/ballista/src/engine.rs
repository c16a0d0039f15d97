//! The execution engine of a task: Ballista's, without metrics that its scheduler cannot add up.

use crate::connections::Connections;
use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::serde::protobuf::{
    RuntimeStatsReport, ShuffleWritePartition, TaskColumnStats, WindowStateReport,
};
use ballista_executor::execution_engine::{DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor};
use datafusion::common::tree_node::TreeNode;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::union::UnionExec;
use datafusion::prelude::SessionConfig;
use std::fmt;
use std::sync::Arc;

pub(crate) struct Engine {
    engine: DefaultExecutionEngine,
}

impl Engine {
    pub(crate) fn new() -> Self {
        Engine { engine: DefaultExecutionEngine::with_client_pool(Arc::new(Connections::default())) }
    }
}

impl ExecutionEngine for Engine {
    fn create_query_stage_exec(
        &self,
        job_id: JobId,
        stage_id: usize,
        task_id: usize,
        global_output_partition_ids: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        work_dir: &str,
        config: &SessionConfig,
    ) -> Result<Arc<dyn QueryStageExecutor>> {
        let has_union = plan.exists(|node| Ok(node.is::<UnionExec>()))?;
        let stage = self.engine.create_query_stage_exec(
            job_id,
            stage_id,
            task_id,
            global_output_partition_ids,
            plan,
            work_dir,
            config,
        )?;
        Ok(Arc::new(Stage { stage, has_union }))
    }
}

#[derive(Debug)]
struct Stage {
    stage: Arc<dyn QueryStageExecutor>,
    has_union: bool,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stage.fmt(f)
    }
}

#[async_trait]
impl QueryStageExecutor for Stage {
    async fn execute_query_stage(
        &self,
        task_id: usize,
        context: Arc<TaskContext>,
    ) -> Result<Vec<ShuffleWritePartition>> {
        self.stage.execute_query_stage(task_id, context).await
    }

    /// The plans of two tasks differ where an input of a union has no rows for one of them. Ballista 55 expects them to
    /// have equally many operators with metrics: it ignores the end of a task that has another number, and the query
    /// hangs.
    fn collect_plan_metrics(&self) -> Vec<MetricsSet> {
        if self.has_union { Vec::new() } else { self.stage.collect_plan_metrics() }
    }

    fn collect_runtime_stats_reports(&self) -> Vec<RuntimeStatsReport> {
        self.stage.collect_runtime_stats_reports()
    }

    fn collect_window_state_reports(&self) -> Result<Vec<WindowStateReport>> {
        self.stage.collect_window_state_reports()
    }

    fn collect_column_stats(&self) -> Vec<TaskColumnStats> {
        self.stage.collect_column_stats()
    }
}
