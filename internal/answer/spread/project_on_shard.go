package spread

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/answer/writes"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// ProjectOnShard is what one shard has of a project.
type ProjectOnShard struct {
	Shard    string
	Headline message.Message
	Parts    []ProjectPart // of the collections that can have rows of it there, most bytes first
	Read     string        // when the estimates were made; "" if there are none
}

// ProjectPart is a project's part of one collection on one shard.
type ProjectPart struct {
	NS               topology.Namespace
	URL              string // the collection's chunks on the shard
	Chunks           int    // that can have rows of it; 0 where the collection is not sharded
	Bytes, Documents MatrixCell
	Share            string // of the project's bytes in the collection
}

// ShardOfProject is the shard of an address whose part of a project comes first.
type ShardOfProject struct{ Shard string }

// Parameters are those of the address, of a view.
func (q *ShardOfProject) Parameters(t *topology.Table) param.List {
	return param.List{param.Of("shard", "what this shard has of it comes first", func(name string) error {
		if q.Shard = name; t.Loaded && t.Shard(name) == nil {
			return fault.New(fault.NotFound, "There is no shard %q.", sanitize.Truncate(name, 100))
		}
		return nil
	})}
}

// ProjectOn says what a shard has of a project.
func ProjectOn(v answer.View, s placement.Spread, shard string) ProjectOnShard {
	out := ProjectOnShard{Shard: shard}
	at := slices.IndexFunc(v.Table.Shards, func(x topology.Shard) bool { return x.Name == shard })
	if at < 0 {
		return out
	}
	sizes := &matrix{v: v, measure: measureOf(MatrixQuery{}), ended: endedMoves(v)}
	documents := &matrix{v: v, measure: measureOf(MatrixQuery{Measure: MatrixDocuments})}
	findings := v.Holdings().Findings(s.Project.DB, s.Project.ID)
	var bytes, whole amount
	type part struct {
		ProjectPart
		order float64
	}
	var parts []part
	var until time.Time
	for _, c := range s.Collections {
		if c.Presence == placement.PresenceNo {
			continue
		}
		size := &matrixLine{shards: partOfProject(v.Table, c, findings, false)}
		rows := &matrixLine{shards: partOfProject(v.Table, c, findings, true)}
		noteMoves(v.Table, size.shards, sizes.ended[c.NS], sizes.touchesProject(c.NS, s.Project.ID))
		size.sum()
		rows.sum()
		here := size.shards[at]
		bytes, whole = bytes.plus(here), whole.plus(size.total)
		i := slices.IndexFunc(c.Shards, func(p placement.ShardPart) bool { return p.Shard == shard })
		if i < 0 && (here.nowhere() || !here.known) {
			continue
		}
		until = writes.LaterOf(until, here.at)
		p := part{ProjectPart{NS: c.NS, Share: shareText(here, size.total)}, here.order()}
		if i >= 0 {
			p.Chunks = c.Shards[i].Chunks
		}
		if coll := v.Table.Collection(c.NS); coll != nil && !coll.Unsplittable {
			p.URL = answer.CollectionURL(c.NS) + "?shard=" + url.QueryEscape(shard) + "#chunks"
		}
		p.Bytes = sizes.cell(size, here, size.total)
		p.Documents = documents.cell(rows, rows.shards[at], rows.total)
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.order, a.order) })
	for _, p := range parts {
		out.Parts = append(out.Parts, p.ProjectPart)
	}
	if !until.IsZero() {
		out.Read = "Estimated from rows read until " + format.Clock(until) + "."
	}
	out.Headline = v.Own(projectOnHeadline(shard, len(parts), bytes, whole, sizes.measure.write))
	return out
}

func projectOnHeadline(shard string, parts int, bytes, whole amount, write func(float64) string) message.Message {
	on := message.Shard("shard", shard)
	switch share := bytes.of(whole); {
	case parts == 0:
		return message.New("project.onNone", "{shard} has nothing of this project.", on)
	case !bytes.known:
		return message.New("project.onUnknown", "{shard} can have rows of it; how many is not estimated yet.", on)
	case bytes.none():
		return message.New("project.onUnseen", "No row of it was seen on {shard}: it has at most {size}.", on,
			message.Words("size", write(bytes.high)))
	case bytes.value == 0 && bytes.atLeast:
		return message.New("project.onUnmeasured", "No row of it was seen on {shard}, and not all collections are measured.", on)
	case share < 0:
		return message.New("project.onSize", "{shard} has {size} of it.", on, message.Words("size", bytes.text(write)))
	default:
		return message.New("project.onShare", "{shard} has {size} of it: {share} of {whole}.", on, message.Words("size", bytes.text(write)),
			message.Words("share", format.Share(share)), message.Words("whole", whole.text(write)))
	}
}
