package projects

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/history"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web/parts"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// projectView answers "where is this tenant?".
func ProjectView(v answer.View, p *profile.Profile, id bson.ObjectID) (Project, error) {
	pr, ok := v.Dir.ByID(id)
	if !ok {
		if !v.Dir.Loaded() {
			return Project{}, fault.New(fault.Unavailable, "The list of projects is not read yet; try again in a moment.")
		}
		return Project{}, fault.New(fault.NotFound, "There is no project with id %s; %d projects of %s were searched.",
			id.Hex(), len(v.Dir.All()), strings.Join(v.Dir.Databases(), ", "))
	}
	spread := placement.SpreadOf(v.Table, p, pr)
	r := parts.RefsOf(v.Table)
	m := Project{ID: pr.ID.Hex(), Watch: answer.WatchProject + pr.ID.Hex(), Name: answer.NameOf(pr), PublicKey: pr.PublicKey, DB: pr.DB, Layout: spread.Layout, Shards: parts.ShardRefs(v.Table)}
	m.Answer, m.Pin = answer.ProjectAnswer(spread), parts.ProjectPin(v, pr.ID)
	for _, c := range spread.Collections {
		m.Rows = append(m.Rows, spreadRow(v, c, m.Shards, r))
	}
	m.Moving = parts.InFlightView(v, answer.MovingOfProject(v, spread), answer.FlightsListed)
	m.Verdicts = verdictGroups(spread)
	m.Why = parts.WhyProject(v, spread)
	m.Failed = failedOfProject(v, spread, id)
	m.Facts = []templates.Fact{
		{Name: "Id", Figure: templates.Figure{Known: true, Text: pr.ID.Hex()}, Mono: true},
		{Name: answer.DocumentsHead(p), Figure: parts.CountFigure(pr.Documents)},
		{Name: "Clients", Figure: parts.CountFigure(pr.Clients)},
		{Name: "Database", Figure: templates.Figure{Known: true, Text: pr.DB}},
		{Name: "Layout", URL: "/layout?" + url.Values{"db": {pr.DB}}.Encode(),
			Figure: templates.Figure{Known: true, Text: spread.Layout, Title: "The known sharding layout that is nearest to what this database has."}},
	}
	if pr.PublicKey != "" {
		m.Facts = slices.Insert(m.Facts, 1, templates.Fact{Name: "Public key", Figure: templates.Figure{Known: true, Text: pr.PublicKey}, Mono: true})
	}
	if !pr.CreatedAt.IsZero() {
		m.Facts = append(m.Facts, templates.Fact{Name: "Created", Figure: templates.Figure{Known: true, Text: pr.CreatedAt.UTC().Format("2006-01-02 15:04 UTC")}})
	}
	return m, nil
}

// failedOfProject are the failed moves of chunks that have rows of the project and
// are known to by their shard key.
func failedOfProject(v answer.View, s placement.Spread, id bson.ObjectID) templates.FailedMoves {
	in := map[topology.Namespace]func(history.Migration) bool{}
	for _, c := range s.Collections {
		t := v.Table.Collection(c.NS)
		if t == nil || c.Basis != placement.BasisKeyPrefix {
			continue
		}
		if r, err := t.Key.PrefixRange(placement.ObjectIDValue(id)); err == nil {
			in[c.NS] = answer.Touches(t, r)
		}
	}
	return parts.FailedMoves(v, true, answer.ActivityQuery{Failed: true}.Url(0), func(m history.Migration) bool {
		return in[m.NS] != nil && in[m.NS](m)
	})
}

// verdictGroups says once what holds for several collections.
func verdictGroups(s placement.Spread) []VerdictGroup {
	var out []VerdictGroup
	names := map[[2]string][]string{}
	var order [][2]string
	verdicts := map[[2]string]VerdictGroup{}
	for _, c := range s.Collections {
		if c.Presence == placement.PresenceNo {
			continue
		}
		g := VerdictGroup{Pin: verdictView("pin", c.Pin), Split: verdictView("split", c.Split)}
		key := [2]string{g.Pin.Why, g.Split.Why}
		if _, ok := verdicts[key]; !ok {
			order = append(order, key)
			verdicts[key] = g
		}
		names[key] = append(names[key], c.NS.Collection())
	}
	for _, key := range order {
		g := verdicts[key]
		g.Names = answer.JoinWords(names[key])
		out = append(out, g)
	}
	return out
}

func spreadRow(v answer.View, c placement.CollectionSpread, shards []templates.ShardRef, r parts.Refs) SpreadRow {
	row := SpreadRow{
		NS: string(c.NS), Name: c.NS.Collection(), What: words.Code("what", c.What, nil), Key: c.Key, Exact: c.Exact, ChunkCount: c.ChunkCount,
		Basis: words.Code("basis", c.Basis, nil),
	}
	if c.Sharded {
		row.URL = answer.CollectionURL(c.NS)
		row.ChunkWords = message.Plural(int64(c.ChunkCount), format.Count(int64(c.ChunkCount))+" chunk", format.Count(int64(c.ChunkCount))+" chunks")
	} else {
		row.ChunkWords, row.Key = "not sharded", ""
	}
	switch {
	case c.Presence == placement.PresenceNo:
		row.Absent = "This collection does not exist here."
	case c.Presence == placement.PresenceUnknown && len(c.Shards) == 0:
		row.Absent = "Whether this collection exists is not known: listing collections is not permitted or not done yet."
	}
	row.Certainty = "Any of these."
	if c.Exact {
		row.Certainty = "Exact."
	}
	for _, s := range shards {
		row.Marks = append(row.Marks, spreadMark(c, s))
	}
	for i, ch := range c.Chunks {
		if i == answer.ChunksListed {
			break
		}
		n := 0
		if coll := v.Table.Collection(c.NS); coll != nil {
			n, _ = coll.Chunks.Find(ch.Min)
		}
		line := parts.ChunkRow(v, c.Pattern, n, ch, r)
		if coll := v.Table.Collection(c.NS); coll != nil {
			line.URL = answer.ChunkURL(c.NS, answer.ChunkRef(coll, ch.Min))
		}
		row.Chunks = append(row.Chunks, line)
	}
	return row
}

func spreadMark(c placement.CollectionSpread, s templates.ShardRef) SpreadMark {
	mark := SpreadMark{Shard: s, Title: fmt.Sprintf("%s: nothing on %s", c.NS.Collection(), s.Name)}
	i := slices.IndexFunc(c.Shards, func(p placement.ShardPart) bool { return p.Shard == s.Name })
	if i < 0 {
		return mark
	}
	part := c.Shards[i]
	mark.Holds, mark.Sure = true, c.Exact
	code := "mark.maybe"
	if c.Exact {
		code = "mark.sure"
	}
	mark.Title = words.T(code, "collection", c.NS.Collection(), "shard", s.Name)
	switch {
	case !c.Sharded:
		mark.Text = "all"
	case part.Documents.Known:
		mark.Text = format.Count(part.Documents.Value) + " docs"
	default:
		mark.Text = message.Plural(int64(part.Chunks), format.Count(int64(part.Chunks))+" chunk", format.Count(int64(part.Chunks))+" chunks")
	}
	return mark
}

// verdictView puts "can it be pinned", "can it be split" into words.
func verdictView(what string, x placement.Verdict) Verdict {
	word := what + ".no"
	if x.Can {
		word = what + ".yes"
	}
	return Verdict{Can: x.Can, Word: words.T("verdict.word." + word), Why: x.String()}
}
