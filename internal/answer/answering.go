package answer

import (
	"slices"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/topology"
)

var answerStates = map[topology.AnswerState]string{
	topology.NotAsked: "notAsked", topology.Answers: "answers", topology.Silent: "silent",
}

const notAskedYet = "It was not asked."

// answeringOf is whether a server answers; of the past nothing is known.
func answeringOf(v View, a topology.Answer, set topology.ReplicaSet) api.Answering {
	out := api.Answering{State: answerStates[a.State], Members: []api.Member{}}
	switch {
	case v.Past != nil:
		return api.Answering{State: answerStates[topology.NotAsked], Reason: notAskedYet, Members: []api.Member{}}
	case a.State == topology.NotAsked && v.Table.Answering.At.IsZero():
		out.Reason = notAskedYet
	case a.State == topology.NotAsked && a.Err != nil:
		out.Reason = fault.Text(a.Err)
	case a.State == topology.NotAsked:
		out.Reason = "It has no chunk whose rows could be asked for."
	}
	out.Since, out.LastAt = TimeOrNull(a.Since), TimeOrNull(a.Last)
	for _, m := range set.Members {
		one := api.Member{Address: m.Address, State: m.State(), Since: TimeOrNull(m.Away)}
		if m.Reached {
			ms := float64(m.Ping) / float64(time.Millisecond)
			one.PingMs = &ms
		}
		out.Members = append(out.Members, one)
	}
	return out
}

func shardAnswering(v View, s topology.Shard) api.Answering {
	set, _ := v.Table.SetOf(s)
	return answeringOf(v, v.Table.Answering.Shards[s.Name], set)
}

// ConfigServers tells how the config servers answer, and whether they take no writes.
func ConfigServers(v View) api.ConfigServers {
	set, _ := v.Table.ConfigSet()
	return api.ConfigServers{Answering: answeringOf(v, v.Table.Answering.Config, set), ReadOnly: v.Table.Answering.ReadOnly}
}

// Silence says which servers do not answer, of the config servers and the shards that are asked about; "" while all do.
func Silence(t *topology.Table, about func(shard string) bool) string {
	a := t.Answering
	switch {
	case a.Config.State == topology.Silent && a.ReadOnly:
		return "The config servers have no primary since " + format.Clock(a.Config.Since) + ": routing can be read, not changed"
	case a.Config.State == topology.Silent:
		return "The config servers have not answered since " + format.Clock(a.Config.Since)
	}
	var silent []string
	var since time.Time
	for _, s := range t.Shards {
		if one := a.Shards[s.Name]; one.State == topology.Silent && about(s.Name) {
			silent = append(silent, s.Name)
			if since.IsZero() || one.Since.Before(since) {
				since = one.Since
			}
		}
	}
	switch n := len(silent); {
	case n == 0:
		return ""
	case n == 1:
		return silent[0] + " has not answered since " + format.Clock(since)
	case n <= 3:
		return format.JoinWords(silent) + " have not answered since " + format.Clock(since)
	default:
		return format.Count(int64(n)) + " shards have not answered since " + format.Clock(since)
	}
}

// AnyShard asks Silence about every shard.
func AnyShard(string) bool { return true }

// RunSilence says which servers that the rest of a run needs do not answer.
func RunSilence(v View, r engine.Run) string {
	if !r.State.Open() || v.Past != nil {
		return ""
	}
	needs := map[string]bool{}
	for _, s := range r.Steps {
		if !s.Ended.IsZero() {
			continue
		}
		needs[s.Shard] = true
		for _, f := range slices.Concat(s.Needs, s.Proof) {
			needs[f.Shard] = true
		}
	}
	if text := Silence(v.Table, func(shard string) bool { return needs[shard] }); text != "" {
		return text + "."
	}
	return ""
}
