package answer

import (
	"slices"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// standingText says in sentences what a run has left in the cluster.
func standingText(r engine.Run, b topology.Balancer) []string {
	s := r.LastingChanges()
	var parts []string
	add := func(n int, text func(n int64, shown string) string) {
		if n > 0 {
			parts = append(parts, text(int64(n), format.Count(int64(n))))
		}
	}
	add(s.RangesSet, func(n int64, shown string) string {
		return message.Plural(n, shown+" zone range set", shown+" zone ranges set")
	})
	add(s.RangesRemoved, func(n int64, shown string) string {
		return message.Plural(n, shown+" zone range removed", shown+" zone ranges removed")
	})
	add(s.ZonesJoined, func(n int64, shown string) string {
		return message.Plural(n, shown+" shard added to a zone", shown+" shards added to zones")
	})
	add(s.ZonesLeft, func(n int64, shown string) string {
		return message.Plural(n, shown+" shard taken from a zone", shown+" shards taken from zones")
	})
	add(s.Splits, func(n int64, shown string) string { return message.Plural(n, shown+" split", shown+" splits") })
	add(s.Merges, func(n int64, shown string) string { return message.Plural(n, shown+" merge", shown+" merges") })
	add(s.Moves, func(n int64, shown string) string { return message.Plural(n, shown+" move", shown+" moves") })
	add(s.Settings, func(n int64, shown string) string {
		return message.Plural(n, shown+" setting changed", shown+" settings changed")
	})
	var out []string
	switch {
	case len(parts) > 0:
		out = append(out, JoinWords(parts)+" by this run.")
	case s.Unknown == 0:
		out = append(out, "Nothing in the cluster has been changed by this run.")
	}
	if s.ByOthers > 0 {
		out = append(
			out,
			message.Plural(
				int64(s.ByOthers),
				format.Count(int64(s.ByOthers))+" step was done already by the balancer or by somebody else.",
				format.Count(int64(s.ByOthers))+" steps were done already by the balancer or by somebody else.",
			),
		)
	}
	if s.Unknown > 0 {
		out = append(
			out,
			message.Plural(
				int64(s.Unknown),
				"The outcome of "+format.Count(int64(s.Unknown))+" command is not known yet.",
				"The outcome of "+format.Count(int64(s.Unknown))+" commands is not known yet.",
			),
		)
	}
	if s.Paused {
		out = append(out, "Balancing is still paused by this run, and will be switched on again.")
	} else if s.RangesSet > 0 && r.CanFinish() && b.Known {
		if b.Enabled() {
			out = append(out, "The balancer is on and keeps moving chunks, because zone ranges set by this run are still in place.")
		} else {
			out = append(out, "The balancer is off. Once it is turned on, it will move chunks to match the zone ranges set by this run.")
		}
	}
	return out
}

func standingOf(r engine.Run, b topology.Balancer) api.Standing {
	s := r.LastingChanges()
	return api.Standing{Splits: s.Splits, Merges: s.Merges, Moves: s.Moves, ZoneRangesSet: s.RangesSet, ZoneRangesRemoved: s.RangesRemoved,
		ShardsAdded: s.ZonesJoined, ShardsRemoved: s.ZonesLeft, Settings: s.Settings, ByOthers: s.ByOthers, Unknown: s.Unknown, Paused: s.Paused,
		Text: strings.Join(standingText(r, b), " ")}
}

func adaptationsOf(r engine.Run) []api.Adaptation {
	out := make([]api.Adaptation, 0, len(r.Adaptations))
	for _, a := range r.Adaptations {
		out = append(
			out,
			api.Adaptation{
				At:      api.Time(a.At),
				Step:    a.Step,
				Before:  a.Before,
				After:   a.After,
				Same:    a.Same,
				Refused: a.Refused,
				Because: DifferencesOf(a.Because),
				Text:    a.Text().String(),
			},
		)
	}
	return out
}

// whyText is why a run is as it is. One that waits for what is in the way, or has
// given up waiting, says what that is.
func whyText(r engine.Run) string {
	if i := waitingStep(r); i >= 0 {
		return strings.Join(StepWaitTexts(string(r.Steps[i].State), stepWaitOf(r.Steps[i])), " ")
	}
	why := r.Why.String()
	if r.Why.Code == "step.gaveUp" {
		for _, s := range r.Steps {
			if s.State == engine.Failed && s.Backoff != nil {
				why += " " + s.Backoff.What.String()
			}
		}
	}
	return why
}

// waitingStep is the step that waits for what is in its way; -1 when none does.
func waitingStep(r engine.Run) int {
	if r.State != engine.Waiting || r.Why.Code != "run.obstacle" {
		return -1
	}
	return slices.IndexFunc(r.Steps, func(s engine.Step) bool { return s.State == engine.Waiting && s.Backoff != nil })
}

func stepWaitOf(s engine.Step) *api.StepWait {
	w := s.Backoff
	if w == nil {
		return nil
	}
	return &api.StepWait{Obstacle: string(w.Obstacle), Text: w.What.String(), Since: api.Time(w.Since), Next: api.Time(w.Next),
		Until: api.Time(w.Until)}
}

func limitsOf(l actions.Limits) api.Limits {
	out := api.Limits{
		Collections: []string{},
		Project:     l.Project,
		Zones:       append([]string{}, l.Zones...),
		Shards:      append([]string{}, l.Shards...),
		Chunks:      l.Chunks,
		Bytes:       FigureOf(l.Bytes),
	}
	for _, ns := range l.Collections {
		out.Collections = append(out.Collections, string(ns))
	}
	return out
}
