package problems

import (
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/rules"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// AllParts is every part of a table, in the order of answers.
var AllParts = [...]topology.Part{
	topology.PartRouting, topology.PartShards, topology.PartDatabases, topology.PartZones, topology.PartSettings,
	topology.PartRouters, topology.PartBalancer, topology.PartEvents, topology.PartSizes, topology.PartCollections,
	topology.PartDisks, topology.PartMoves,
}

// Cluster is the cluster in figures. Target, Version and Demo are the server's own.
func Cluster(v answer.View) api.Cluster { return ClusterWith(v, v.Load()) }

// ClusterWith is Cluster for a caller that has worked out what the shards carry.
func ClusterWith(v answer.View, load answer.Load) api.Cluster {
	t := v.Table
	var bytes, documents, chunks answer.Sum
	for i := range load.Shards {
		bytes.Add(load.Bytes[i])
		documents.Add(load.Documents[i])
		chunks.Add(load.Chunks[i])
	}
	out := api.Cluster{
		ClusterID: t.ClusterID, ServerVersion: t.ServerInfo.Version, Product: t.ServerInfo.Release(), Seq: t.Seq,
		Connection: answer.ConnectionOf(v),
		Shards:     len(t.Shards), Databases: []api.Database{}, Routers: []api.Router{},
		Collections: load.Collections, Chunks: int(chunks.Value), Zones: len(answer.ZoneNames(t)),
		Bytes: answer.FigureOf(bytes.Figure()), Documents: answer.FigureOf(documents.Figure()),
		Balancer: balancer(v), ConfigServers: answer.ConfigServers(v),
		Problems:  problemSummaryOf(v, Problems(v)),
		Freshness: answer.FreshnessOf(v, topology.PartRouting, topology.PartShards),
	}
	if out.Followed = t.Following.Live; t.Following.Err != nil {
		out.NotFollowed = fault.Text(t.Following.Err)
	}
	for _, d := range t.Databases {
		out.Databases = append(out.Databases, api.Database{Name: d.Name, Primary: d.Primary})
	}
	for _, c := range t.Collections {
		if answer.Visible(c) {
			out.Jumbo += c.Chunks.Jumbo()
		}
	}
	for _, m := range t.Routers {
		out.Routers = append(out.Routers, api.Router{Host: m.Host, Version: m.Version, Ping: api.Time(m.Ping)})
	}
	for _, p := range AllParts {
		out.Parts = append(out.Parts, partOf(v, p))
	}
	return out
}

// partOf is a part's health. The driver's cause is not shown, the sentence for
// people is.
func partOf(v answer.View, p topology.Part) api.Part {
	h := v.Table.Health[p]
	out := api.Part{Part: string(p), OK: h.Err == nil && !h.At.IsZero(), Stale: v.Table.Stale(p, v.Now), At: api.Time(h.At),
		Privilege: h.Privilege}
	if h.Err != nil {
		out.Reason = fault.Text(h.Err)
	}
	return out
}

// balancer is what the balancer is set to and doing.
func balancer(v answer.View) api.Balancer {
	b := v.Table.Balancer
	out := api.Balancer{
		Mode: b.Mode, WindowStart: b.WindowStart, WindowStop: b.WindowStop,
		ChunkBytes: answer.PositiveOrNull(b.ChunkBytes), ChunkDefault: b.ChunkDefault,
		Setting: "unknown", LastHour: movesLately(v), Window: b.When(), Refused: []api.RefusedSetting{}, Unread: []string{},
		ForceJumbo: b.ForceJumbo, WaitForDelete: b.WaitForDelete, SecondaryThrottle: b.SecondaryThrottle,
	}
	for _, r := range b.Refused {
		out.Refused = append(out.Refused, api.RefusedSetting{Setting: r.Name(), Value: r.Value, Why: r.Why})
	}
	for _, name := range b.Unread {
		out.Unread = append(out.Unread, sanitize.Line(sanitize.Truncate(name, 100)))
	}
	if merges := !b.AutoMergeOff; b.Known && !b.Unrecorded && balance.ReleaseOf(v.Table.ServerInfo.Version).AtLeast(7, 0, 0) {
		out.AutoMerge = &merges
	}
	if b.Known {
		on := b.Enabled()
		out.Enabled = &on
		switch {
		case b.Broken():
			out.Setting = "does not run"
		case !on:
			out.Setting = "off"
		case b.Mode == "autoSplitOnly":
			out.Setting = "splits only"
		default:
			out.Setting = "on"
		}
	}
	if b.StatusKnown {
		out.InRound, out.Rounds = &b.InRound, &b.Rounds
	}
	switch {
	case v.Past != nil: // whether a round ran is not a setting, and not in history
		out.RoundReason = "notKept"
		out.RoundWhy = "History records settings and where data was, not what the balancer was doing or how full the disks were."
	case !b.StatusKnown:
		out.RoundReason, out.RoundWhy = "notPermitted", answer.PartState(v, topology.PartBalancer).Detail
		if h := v.Table.Health[topology.PartBalancer]; !v.Table.Saved.IsZero() && h.At.IsZero() && h.Err == nil {
			out.RoundReason = "notLoaded"
		}
	}
	return out
}

// movesLately counts migrations as the rule on failing ones does.
func movesLately(v answer.View) message.Message {
	if !v.Table.Saved.IsZero() && v.Table.Health[topology.PartEvents].At.IsZero() {
		return message.New("movesLately", "not known: the changelog is not read yet")
	}
	n := rules.MovesLately(v.Table, v.Now)
	pattern := "{moves} moved, {failed} failed"
	if n.Internal.Moves+n.Internal.Failed > 0 {
		pattern += "; of internal collections: {internalMoves} moved, {internalFailed} failed"
	}
	return message.New("movesLately", pattern, message.Count("moves", n.Moves), message.Count("failed", n.Failed),
		message.Count("internalMoves", n.Internal.Moves), message.Count("internalFailed", n.Internal.Failed))
}
