package web

import (
	"net/http"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// apiInFlight lists the migrations under way, the oldest first.
func (s *Site) apiInFlight(w http.ResponseWriter, r *http.Request) error {
	v := s.viewFor(r)
	if err := known(v, topology.PartMoves, "Migrations"); err != nil {
		return err
	}
	q := r.URL.Query()
	ns, shard := topology.Namespace(q.Get("ns")), q.Get("shard")
	var list []topology.InFlight
	for _, x := range v.Table.Moves.List {
		if (ns == "" || x.NS == ns) && (shard == "" || x.From == shard || x.To == shard) {
			list = append(list, x)
		}
	}
	out := api.List[api.InFlight]{Items: inFlightOf(v, list)}
	out.AsOf, out.Stale = asOf(v, topology.PartMoves)
	return writeJSON(w, http.StatusOK, out)
}

// inFlightOf are migrations in the API's form; never nil. Of the past none are
// known: what moved then is in the changelog.
func inFlightOf(v View, list []topology.InFlight) []api.InFlight {
	out := []api.InFlight{}
	if v.Past != nil {
		return out
	}
	runs := flightRuns(v, list)
	for _, x := range list {
		out = append(out, flightOf(v, x, runs))
	}
	return out
}

func flightOf(v View, x topology.InFlight, runs []history.OurRun) api.InFlight {
	m := v.Table.Moves
	out := api.InFlight{NS: string(x.NS), Min: v.document(x.Min), Max: v.document(x.Max), From: x.From, To: x.To,
		Since: x.Since.UTC(), AtLeast: x.AtLeast, Arrived: x.Arrived(v.Table), WaitForDelete: x.Wait, FromChangelog: m.FromLog,
		Step: x.Step, Steps: x.Steps, StepInferred: x.StepInferred, RecipientStep: x.RecipientStep, RecipientSteps: x.RecipientSteps,
		StepsReason: m.StepsReason, Privilege: m.StepsPrivilege,
		Copied: figureOf(x.Copied), Estimate: figureOf(x.Estimate)}
	out.By, out.App, out.Run = flightAsker(x, runs)
	if c := v.Table.Collection(x.NS); c != nil {
		if from, to := x.Positions(c); from < to {
			out.Ref = chunkRef(c, c.Chunks.At(from).Min)
		}
	}
	if x.Left.Known {
		seconds := int64(x.Left.For.Seconds())
		out.Left.Seconds = &seconds
	} else {
		out.Left.Reason = x.Left.Reason
	}
	return out
}

// placeRange is where a located thing is in its collection's key space: the key,
// with no upper bound, or the range of what is known of it. Zero where nothing
// is.
func placeRange(p placement.Place) shardkey.Range {
	if !p.Sharded || p.Exists == "absent" || p.Pattern.IsZero() {
		return shardkey.Range{}
	}
	if !p.Key.IsZero() {
		return shardkey.Range{Min: p.Key}
	}
	var values []bson.RawValue
	for _, f := range p.Pattern.Fields() {
		n := len(values)
		for _, m := range p.Match {
			if m.Field == f.Name {
				values = append(values, m.Value)
				break
			}
		}
		if len(values) == n {
			break
		}
	}
	if len(values) == 0 {
		return shardkey.Range{}
	}
	r, err := p.Pattern.PrefixRange(values...)
	if err != nil {
		return shardkey.Range{}
	}
	return r
}

// movingPlaces tells of located things which are on their way.
func movingPlaces(v View, found []placement.Item, into []api.LocateItem) {
	if len(v.Table.Moves.List) == 0 {
		return
	}
	for i, it := range found {
		for n, p := range it.Places {
			if x := movingIn(v, p.NS, placeRange(p)); x != nil && i < len(into) && n < len(into[i].Places) {
				into[i].Places[n].Moving = &api.MovingPlace{From: x.From, To: x.To, Since: x.Since.UTC(), Whole: !p.Key.IsZero()}
			}
		}
	}
}

// movingOfProject are the migrations of a project's own ranges: those of
// collections whose shard key begins with the project.
func movingOfProject(v View, s placement.Spread) (out []topology.InFlight) {
	if v.Past != nil || len(v.Table.Moves.List) == 0 {
		return nil
	}
	for _, c := range s.Collections {
		coll := v.Table.Collection(c.NS)
		if c.Basis != placement.BasisKeyPrefix || coll == nil {
			continue
		}
		for _, x := range v.Table.MovingOf(c.NS) {
			from, to := x.Positions(coll)
			for _, ch := range c.Chunks {
				if i, _ := coll.Chunks.Find(ch.Min); from <= i && i < to {
					out = append(out, x)
					break
				}
			}
		}
	}
	return out
}
