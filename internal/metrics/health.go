package metrics

import (
	"maps"
	"slices"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

var (
	clusterUp = gauge("cluster_up",
		"1 while the cluster answers shardboard: the last poll of the routing table succeeded. 0 after a failed one, and while a cluster "+
			"of the configuration cannot be used at all; absent before the first poll has ended.")
	clusterMongos = gauge("cluster_mongos",
		"Mongos of the cluster's address, by whether they answer: up, down. Absent before the first attempt.", "state")
	clusterConnection = gauge("cluster_connection",
		"1 for how the cluster is reached, 0 for all other states: connected, partly, reading, never, lost, refused, denied, notMongos, "+
			"otherCluster (docs/connect.md). Absent before the first attempt.", "state")
	clusterInfo = gauge("cluster_info", "Always 1, with the release of MongoDB and the cluster's id.", "mongodb_version", "cluster_id")
	pollAge     = gauge("poll_age_seconds",
		"Time since a part was last read well; absent before the first time. The parts projects, writes, sizes-by-project, history "+
			"and problems are "+
			"shardboard's own work.", "part")
	pollFailing = gauge("poll_failing", "1 while the last read of a part failed, 0 while it succeeded; absent before the first.", "part")
	pollDenied  = gauge("poll_denied", "1 while the cluster's user lacks the privilege to read a part, 0 while it has it.", "part")
	tableSeq    = gauge("table_seq", "Number of the routing table; grows with each change.")

	commands        = counter("cluster_commands_total", "Commands sent to the cluster by this process.", "command")
	commandFailures = counter("cluster_command_failures_total", "Commands that failed or had no answer.", "command")
	documents       = counter("cluster_read_documents_total", "Documents that the cluster returned to this process.", "command")
	requestBytes    = counter("cluster_sent_bytes_total", "Bytes of commands sent to the cluster, before compression.", "command")
	replyBytes      = counter("cluster_received_bytes_total", "Bytes of replies of the cluster, after decompression.", "command")

	openProblems = gauge("problems",
		"Open problems by rule, as the overview lists them; 0 for a rule that found none, absent for one that could not be checked.", "rule")
	problemsBySeverity = gauge("problems_by_severity", "Open problems by severity: critical, warn, info.", "severity")
	rulesUnchecked     = gauge("rules_unchecked", "Rules that could not be checked, wholly or in part.")

	runsOpen = gauge("runs_open",
		"Runs that this process executes, by state. Unknown: a command had no answer and its outcome is being read.", "state")
	runsEnded = counter("runs_ended_total", "Runs that have ended since the start of this process, by their final state.", "state")
)

// Parts of our own beside those of the table.
const (
	partProjects topology.Part = "projects"
	partWrites   topology.Part = "writes"
	partHoldings topology.Part = "sizes-by-project"
	partHistory  topology.Part = "history"
	partProblems topology.Part = "problems"
)

// health writes how reading the cluster goes.
func (c *Cluster) health(s *series, t *topology.Table, now time.Time) {
	if h := t.Health[topology.PartRouting]; h.Err != nil || !h.At.IsZero() {
		s.flag(clusterUp, h.Err == nil)
		state := answer.ConnectionState(t)
		for _, is := range answer.ConnectionStates {
			s.flag(clusterConnection, is == state, is)
		}
	}
	if all := len(t.Connection.Endpoints); all > 0 {
		down := len(t.Connection.Down())
		s.set(clusterMongos, float64(all-down), "up")
		s.set(clusterMongos, float64(down), "down")
	}
	if t.ServerInfo.Version != "" {
		s.set(clusterInfo, 1, labelOf(t.ServerInfo.Version), t.ClusterID)
	}
	part := func(p topology.Part, h topology.Health) {
		if !h.At.IsZero() {
			s.set(pollAge, max(0, now.Sub(h.At).Seconds()), string(p))
		}
		if h.Err != nil || !h.At.IsZero() {
			s.flag(pollFailing, h.Err != nil, string(p))
			s.flag(pollDenied, h.Denied, string(p))
		}
	}
	for _, p := range problems.AllParts {
		part(p, t.Health[p])
	}
	if c.from.Directory != nil {
		part(partProjects, c.from.Directory().Health())
	}
	age := func(p topology.Part, at time.Time) {
		if !at.IsZero() {
			s.set(pollAge, max(0, now.Sub(at).Seconds()), string(p))
		}
	}
	if c.from.Heat != nil {
		var oldest time.Time
		for _, ns := range c.from.Heat.Counted(t) {
			if at := c.from.Heat.CountedUntil(ns); oldest.IsZero() || at.Before(oldest) {
				oldest = at
			}
		}
		age(partWrites, oldest)
	}
	if c.from.Holdings != nil && t.Loaded {
		if h := c.from.Holdings(t); h != nil {
			var oldest time.Time
			for _, one := range h.Collections {
				if one.Measured() && (oldest.IsZero() || one.At.Before(oldest)) {
					oldest = one.At
				}
			}
			age(partHoldings, oldest)
		}
	}
	if c.from.Recorded != nil {
		age(partHistory, c.from.Recorded())
	}
	if t.Loaded {
		s.set(tableSeq, float64(t.Seq))
	}
	if c.from.Rules != nil {
		c.problems(s, now)
	}
	c.cost(s)
	if c.from.Runs != nil {
		counts := c.from.Runs()
		for _, state := range []engine.State{engine.Planned, engine.Waiting, engine.Running, engine.Unknown} {
			s.set(runsOpen, float64(counts.Open[state]), string(state))
		}
		for _, state := range []engine.State{engine.Succeeded, engine.Failed, engine.Refused, engine.Stopped} {
			s.set(runsEnded, float64(counts.Ended[state]), string(state))
		}
	}
}

// problems writes what the rules found when they were last evaluated.
func (c *Cluster) problems(s *series, now time.Time) {
	r := c.from.Rules()
	if r.At.IsZero() {
		return
	}
	s.set(pollAge, max(0, now.Sub(r.At).Seconds()), string(partProblems))
	unsure := map[rules.Rule]bool{}
	for _, u := range r.Unsure {
		unsure[u.Rule] = true
	}
	found := map[rules.Rule]int{}
	severities := map[rules.Severity]int{rules.Critical: 0, rules.Warn: 0, rules.Info: 0}
	for _, p := range r.Items {
		found[p.Rule]++
		severities[p.Severity]++
	}
	for _, rule := range rules.Rules() {
		if n := found[rule]; n > 0 || !unsure[rule] {
			s.set(openProblems, float64(n), string(rule))
		}
	}
	for _, severity := range slices.Sorted(maps.Keys(severities)) {
		s.set(problemsBySeverity, float64(severities[severity]), string(severity))
	}
	s.set(rulesUnchecked, float64(len(unsure)))
}

// cost writes what watching costs the cluster.
func (c *Cluster) cost(s *series) {
	if c.from.Costs == nil {
		return
	}
	by := c.from.Costs()
	for _, name := range slices.Sorted(maps.Keys(by)) {
		of, label := by[name], labelOf(name)
		s.set(commands, float64(of.Commands), label)
		s.set(commandFailures, float64(of.Failures), label)
		s.set(documents, float64(of.Documents), label)
		s.set(requestBytes, float64(of.RequestBytes), label)
		s.set(replyBytes, float64(of.ReplyBytes), label)
	}
}
