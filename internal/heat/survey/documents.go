package survey

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// maxRowsPerDocument is how many rows of one Yorkie document a shard sums up at most.
const maxRowsPerDocument = 200_000

// errSlow means that a query for one document exceeded its timeout.
var errSlow = errors.New("too slow")

// documents is a survey of kind document, and the last part of one of a small project: each
// document in each document-wide collection.
type documents struct {
	Project bson.ObjectID
	IDs     []bson.ObjectID
	Values  values   `json:",omitempty"` // of the project and the documents
	Stored  [][]byte `json:",omitempty"` // of the documents instead: all values that the text of one id can be
	Parts   []*documentPart
}

// documentPart is the state of one collection. Its fields are stored as JSON; do not rename them.
type documentPart struct {
	Target Target
	At     int // index in IDs
	Ended  outcome
	Lines  []Line
}

func newDocuments(of []Target, project bson.ObjectID, ids ...bson.ObjectID) *documents {
	d := &documents{Project: project, IDs: ids}
	for _, t := range of {
		d.Parts = append(d.Parts, &documentPart{Target: t})
	}
	return d
}

// ofAnyType makes it a survey of all ids that a text can be: 7 is a number and a text.
func (d *documents) ofAnyType(text string) {
	d.IDs = nil
	for _, v := range placement.KeyValues(text) {
		if id, stored, ok := placement.IDOf(v); ok {
			d.IDs, d.Stored = append(d.IDs, id), append(d.Stored, []byte(stored))
		}
	}
}

// stored is the id of a document as it is stored.
func (d *documents) stored(i int) bson.RawValue {
	if i < len(d.Stored) {
		return placement.Stored(d.Stored[i]).Value(d.IDs[i])
	}
	return d.Values.of(d.IDs[i])
}

func (d *documents) progress() (done, total int64) {
	for _, p := range d.Parts {
		if done += int64(p.At); p.Ended.Reason != "" {
			total += int64(p.At)
			continue
		}
		total += int64(len(d.IDs))
	}
	return done, total
}

func (d *documents) step(ctx context.Context, r *Reader) (bool, error) {
	for _, p := range d.Parts {
		if p.Ended.Reason == "" && p.At < len(d.IDs) {
			return false, p.Ended.take(r, d.one(ctx, r, p))
		}
	}
	return true, nil
}

// one sums up one document in one collection.
func (d *documents) one(ctx context.Context, r *Reader, p *documentPart) error {
	id := d.stored(p.At)
	var size DocumentSize
	var of bson.RawValue
	if !d.Project.IsZero() {
		of = d.Values.of(d.Project)
	}
	err := r.Read(ctx, 1, func(ctx context.Context) (_ int, err error) {
		size, err = r.src.DocumentSize(ctx, DocumentSizeQuery{
			NS: p.Target.NS, Document: p.Target.Document, ID: id, Project: p.Target.Project, Of: of, Limit: maxRowsPerDocument})
		return 1, err
	})
	if err != nil {
		if ctx.Err() == nil && fault.Of(err) == fault.Unavailable {
			return fault.Wrap(
				fault.Unavailable,
				errSlow,
				"The rows of the document could not be summed up in %s: there are too many, or the shard does not answer.",
				readTimeout,
			)
		}
		return err
	}
	exact := func(n int64) Estimate {
		return Estimate{Value: n, Low: n, High: n, Exact: !size.AtLeast, AtLeast: size.AtLeast}
	}
	w := Weight{Rows: exact(size.Rows), Bytes: exact(size.Bytes)}
	line := Line{Project: d.Project, Weight: w}
	var is placement.Stored
	line.Document, is, _ = placement.IDOf(id)
	line.Stored = []byte(is)
	if size.Rows > 0 {
		line.Shards = []Part{{Shard: ownerOf(r.table(), p.Target, of, id), Weight: w}}
	}
	p.At++
	p.Lines = append(p.Lines, line)
	return nil
}

func (d *documents) result(t *topology.Table) Result {
	var out Result
	for _, p := range d.Parts {
		c := p.Ended.collection(t, p.Target, MethodCounted)
		c.Complete, c.Documents = p.At == len(d.IDs), d.found(p.Lines)
		for _, l := range p.Lines {
			c.Read += l.Rows.Value
		}
		if len(d.Stored) == 0 && len(d.IDs) > 1 && len(p.Lines) > 0 {
			c.Projects = []Line{added(d.Project, p.Lines, c.Complete)}
			c.Documents = nil
		}
		out.Collections = append(out.Collections, c)
	}
	return out
}

// found leaves out ids that a text can be and no row has, unless no row has any.
func (d *documents) found(lines []Line) []Line {
	if len(d.Stored) < 2 || len(lines) == 0 {
		return lines
	}
	some := slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return l.Rows.Value == 0 })
	if len(some) == 0 {
		return lines[:1]
	}
	return some
}

// added is a project's line, made from those of its documents.
func added(project bson.ObjectID, lines []Line, complete bool) Line {
	out := Line{Project: project}
	out.Rows.Exact, out.Bytes.Exact = complete, complete
	out.Rows.AtLeast, out.Bytes.AtLeast = !complete, !complete
	at := map[string]int{}
	for _, l := range lines {
		out.Weight = out.plus(l.Weight)
		for _, s := range l.Shards {
			i, ok := at[s.Shard]
			if !ok {
				i = len(out.Shards)
				at[s.Shard] = i
				out.Shards = append(out.Shards, Part{Shard: s.Shard, Weight: Weight{Rows: Estimate{Exact: true}, Bytes: Estimate{Exact: true}}})
			}
			out.Shards[i].Weight = out.Shards[i].plus(s.Weight)
		}
	}
	return out
}

func (w Weight) plus(o Weight) Weight {
	return Weight{Rows: w.Rows.plus(o.Rows), Bytes: w.Bytes.plus(o.Bytes)}
}

func (e Estimate) plus(o Estimate) Estimate {
	return Estimate{
		Value:   e.Value + o.Value,
		Low:     e.Low + o.Low,
		High:    e.High + o.High,
		Exact:   e.Exact && o.Exact,
		AtLeast: e.AtLeast || o.AtLeast,
	}
}
