package logbook

import (
	"context"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/internal/message"
)

// TimeSpans are how much time the picture of a past page can show, by the code in its address.
var TimeSpans = [...]struct {
	Code string
	Long time.Duration
}{{"1h", time.Hour}, {"6h", 6 * time.Hour}, {"1d", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}, {"35d", history.Keep}}

// aroundParts is into how many parts the time around a moment is divided.
const aroundParts = 200

// LookingAt says which time a page of the past shows.
func LookingAt(p *answer.PastTime) message.Message {
	return message.New("past.lookingAt", "You are looking at {at} ({ago} ago).", instantFact("at", p.At),
		message.Duration("ago", p.Now.Sub(p.At)))
}

// PastNotes say what may be missing of a time, and what is not of that time.
func PastNotes(v answer.View, listsProjects bool) []api.State {
	p := v.Past
	var out []api.State
	if !p.Watched {
		m := message.New("past.unwatched", "This is the state of {last}; changes since then may be missing.", instantFact("last", p.Last))
		if !p.Next.IsZero() {
			m = message.New("past.unwatched", "This is the state of {last}; changes until {next} may be missing.",
				instantFact("last", p.Last), instantFact("next", p.Next))
		}
		out = append(out, api.State{Code: "stale", Title: "Nothing was recorded then.", Detail: m.String()})
	}
	switch {
	case !p.Reached && p.NamesOf.IsZero():
		out = append(out, api.State{Code: "partial", Title: "The names of projects are not known.",
			Detail: "They are read from the cluster, which was not reached since the start of shardboard, and none are stored; ids are shown."})
	case !p.Reached && listsProjects:
		out = append(out, api.State{Code: "partial", Title: "The list of projects is that of " + answer.FullInstant(p.NamesOf) + ".",
			Detail: "It was stored when it was last read from the cluster, without counts; the places of the projects are those of the time shown."})
	case listsProjects:
		out = append(out, api.State{Code: "partial", Title: "The list of projects is the current one.",
			Detail: "Names and counts are current; the places of the projects are those of the time shown."})
	}
	for i, note := range out {
		out[i].Title, out[i].Detail = v.Profile.Words(note.Title), v.Profile.Words(note.Detail)
	}
	return out
}

// AroundTime is what happened around a past time: the code's span with
// the time in its middle, or up to now. A code that is not one of TimeSpans is a day. From and To are set
// also when the history cannot be read.
func AroundTime(ctx context.Context, from *history.Past, cluster string, p *answer.PastTime, code string) (api.TimeAround, error) {
	out := api.TimeAround{Long: 24 * time.Hour, Parts: aroundParts}
	for _, x := range TimeSpans {
		if x.Code == code {
			out.Long = x.Long
		}
	}
	out.To = p.At.Add(out.Long / 2)
	if out.To.After(p.Now) {
		out.To = p.Now
	}
	out.From = out.To.Add(-out.Long)
	ticks, err := from.Ticks(ctx, cluster, out.From, out.To, aroundParts)
	if err != nil {
		return out, err
	}
	changes, failures := 0, 0
	for i, k := range ticks {
		at := instantFact("from", out.From.Add(out.Long/aroundParts*time.Duration(i)))
		tick := func(n int, failed bool, code, what string) {
			if n > 0 {
				title := message.New(code, "{n} "+what+" from {from}", message.Count("n", n), at)
				out.Ticks = append(out.Ticks, api.TimeTick{Part: i, N: n, Failed: failed, Title: title})
			}
		}
		tick(k.Changes, false, "past.changes", message.Plural(k.Changes, "change", "changes"))
		tick(k.Failures, true, "past.failures", message.Plural(k.Failures, "failure", "failures"))
		changes, failures, out.Most = changes+k.Changes, failures+k.Failures, max(out.Most, k.Changes)
	}
	out.Summary = message.New("past.around", "{changes} "+message.Plural(changes, "change", "changes")+" and {failures} "+
		message.Plural(failures, "failure", "failures")+" from {from} to {to}",
		message.Count("changes", changes), message.Count("failures", failures), instantFact("from", out.From), instantFact("to", out.To))
	return out, nil
}

// instantFact is a time that is written as FullInstant does.
func instantFact(name string, t time.Time) message.Fact {
	f := message.Time(name, t)
	f.Shown = answer.FullInstant(t)
	return f
}
