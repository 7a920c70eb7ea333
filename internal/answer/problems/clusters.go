package problems

import (
	"cmp"
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/natural"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// States of a cluster among several, worst first.
const (
	ClusterFailed      = "failed"      // its configuration cannot work
	ClusterUnreachable = "unreachable" // it does not answer
	ClusterDenied      = "denied"
	ClusterStale       = "stale"
	ClusterStarting    = "starting" // nothing was tried yet
	ClusterLoading     = "loading"
	ClusterLive        = "live"
)

var clusterStates = []string{ClusterFailed, ClusterUnreachable, ClusterDenied, ClusterStale, ClusterStarting, ClusterLoading, ClusterLive}

// ClusterOf is one cluster's row from its view, without what is known of the server's side of it.
func ClusterOf(v answer.View) api.ClusterSummary {
	t := v.Table
	out := api.ClusterSummary{ServerVersion: t.ServerInfo.Version, Balancer: "unknown", ReadAt: api.Time(t.Health[topology.PartRouting].At)}
	out.State, out.Text = clusterState(v)
	if !t.Loaded {
		out.Bytes, out.Documents = api.Figure{Reason: "notLoaded"}, api.Figure{Reason: "notLoaded"}
		return out
	}
	c, found := Cluster(v), Problems(v)
	sum := found.Summary()
	out.Shards, out.Bytes, out.Documents, out.Balancer = &c.Shards, c.Bytes, c.Documents, c.Balancer.Setting
	if t.IsRead() { // nothing was checked before
		out.Critical, out.Warnings, out.Notes = &sum.Critical, &sum.Warn, &sum.Info
	}
	_, out.Problems = Headline(v, sum)
	if len(found.Items) > 0 {
		worst := ProblemLines(v, found.Items[:1])[0]
		out.Worst, out.WorstURL, out.Severity = worst.Title, api.Address(worst.URL), worst.Severity
	}
	return out
}

// clusterState says how its data is.
func clusterState(v answer.View) (state, text string) {
	h := v.Table.Health[topology.PartRouting]
	switch {
	case h.Denied:
		return ClusterDenied, "Grant the cluster user " + h.Privilege + "."
	case h.Err != nil:
		return ClusterUnreachable, fault.Text(h.Err)
	case !v.Table.Loaded:
		return ClusterLoading, "The routing table is being read for the first time."
	case !v.Table.Saved.IsZero():
		return ClusterStale, "As of " + answer.FullInstant(v.Table.Saved) + ", being verified."
	case v.Table.Stale(topology.PartRouting, v.Now):
		return ClusterStale, "The data is " + format.Span(v.Now.Sub(h.At)) + " old: reading takes longer than it should."
	}
	return ClusterLive, ""
}

// ClusterStateText is a state as people read it.
func ClusterStateText(state string) string {
	switch state {
	case ClusterFailed:
		return "Failed"
	case ClusterUnreachable:
		return "Not reachable"
	case ClusterDenied:
		return "Not permitted"
	case ClusterStale:
		return "Stale"
	case ClusterStarting:
		return "Starting"
	case ClusterLoading:
		return "Loading"
	}
	return "Live"
}

// WorstFirst sorts clusters: those that cannot be seen, then by their worst problem and how many they
// have, then by name.
func WorstFirst(list []api.ClusterSummary) {
	slices.SortStableFunc(list, func(a, b api.ClusterSummary) int {
		return cmp.Or(
			cmp.Compare(trouble(a), trouble(b)),
			-cmp.Compare(count(a.Critical), count(b.Critical)),
			-cmp.Compare(count(a.Warnings), count(b.Warnings)),
			-cmp.Compare(count(a.Notes), count(b.Notes)),
			natural.Compare(a.Name, b.Name),
		)
	})
}

// trouble is 0 for the worst. A cluster with a critical problem is worse than one whose data is a
// little old, and one that is being read is not in trouble yet.
func trouble(c api.ClusterSummary) int {
	switch at := slices.Index(clusterStates, c.State); {
	case at <= slices.Index(clusterStates, ClusterDenied):
		return at
	case c.Severity == string(rules.Critical):
		return 10
	case c.State == ClusterStale:
		return 11
	case c.Severity == string(rules.Warn):
		return 12
	case c.State != ClusterLive:
		return 13
	case c.Severity == string(rules.Info):
		return 14
	}
	return 15
}

func count(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
