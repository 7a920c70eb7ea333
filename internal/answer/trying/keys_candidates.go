package trying

import (
	"slices"
	"time"

	"shardboard/internal/lab/keys"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// labCandidates are the keys that are compared: that of today, those that suit the collection, and those that were
// added. Without times of rows there are none of fields that depend on them.
func (q LabKeysQuery) candidates(times bool) []keys.Candidate {
	var out []keys.Candidate
	add := func(name string, p shardkey.Pattern) {
		if !slices.ContainsFunc(out, func(c keys.Candidate) bool { return c.Key.Equal(p) }) {
			out = append(out, keys.Candidate{Name: name, Key: p})
		}
	}
	if !q.today.IsZero() {
		add("key of today", q.today)
	}
	for _, c := range q.suitable() {
		add(c.name, labPattern(c.json))
	}
	if times {
		add("coarse time, then a field", labPattern(`{"`+keys.Coarse+`":1,"`+q.second()+`":1}`))
		add("locality UUID, default mode", labPattern(`{"`+keys.LocalityDefault+`":1}`))
		add("locality UUID, sequential mode", labPattern(`{"`+keys.LocalitySequential+`":1}`))
	}
	for _, p := range q.typed {
		add("added", p)
	}
	return out
}

type namedKey struct{ name, json string }

// suitable are keys of fields that the collection has.
func (q LabKeysQuery) suitable() []namedKey {
	switch q.kind() {
	case "documents", "clients":
		return []namedKey{{"project", `{"project_id":1}`}, {"project and key", `{"project_id":1,"key":1}`},
			{"project and hashed id", `{"project_id":1,"_id":"hashed"}`}, {"hashed id", `{"_id":"hashed"}`}}
	case "schemas":
		return []namedKey{{"project", `{"project_id":1}`}, {"project and name", `{"project_id":1,"name":1}`},
			{"project and hashed id", `{"project_id":1,"_id":"hashed"}`}}
	case "":
		return []namedKey{{"id", `{"_id":1}`}, {"hashed id", `{"_id":"hashed"}`}}
	}
	return []namedKey{{"project", `{"project_id":1}`}, {"project and document", `{"project_id":1,"doc_id":1}`},
		{"project and hashed id", `{"project_id":1,"_id":"hashed"}`}, {"document", `{"doc_id":1}`}, {"hashed document", `{"doc_id":"hashed"}`}}
}

// second is the field after the coarse time: one that is searched for.
func (q LabKeysQuery) second() string {
	switch q.kind() {
	case "documents":
		return "key"
	case "clients", "schemas":
		return "project_id"
	case "":
		for _, f := range q.today.Fields() {
			if f.Name != "_id" {
				return f.Name
			}
		}
		return "_id"
	}
	return "doc_id"
}

// kind is the collection of Yorkie's whose fields the rows have; "" if they are not Yorkie's.
func (q LabKeysQuery) kind() string {
	if q.NS == "" {
		return q.Collection
	}
	name := topology.Namespace(q.NS).Collection()
	if _, _, ok := keys.YorkieQueries(name); ok || name == snapshotBodies {
		return name
	}
	return ""
}

// snapshotBodies has rows of documents, and is not sharded by any published layout.
const snapshotBodies = "snapshot_bodies"

// labPattern is a key of ours, which is well-formed.
func labPattern(json string) shardkey.Pattern {
	p, _ := parseLabKey("keys", json)
	return p
}

// fieldsOf are all fields of keys, apart: those that rows have, and those that they do not have.
func fieldsOf(candidates []keys.Candidate) (real, extra []string) {
	for _, c := range candidates {
		for _, f := range c.Key.Fields() {
			to := &real
			if slices.Contains(keys.ExtraFields(), f.Name) {
				to = &extra
			}
			if !slices.Contains(*to, f.Name) {
				*to = append(*to, f.Name)
			}
		}
	}
	return real, extra
}

// hasExtra tells whether a key has a field that no row has.
func hasExtra(p shardkey.Pattern) string {
	for _, f := range p.Fields() {
		if slices.Contains(keys.ExtraFields(), f.Name) {
			return f.Name
		}
	}
	return ""
}

// labModel is the model of the inputs. Its time is fixed, so that the same inputs make the same rows on every day.
func (q LabKeysQuery) model(extra []string) keys.Model {
	all := int64(q.Projects) * int64(q.PerProject)
	m := keys.Model{Collection: q.Collection, Seed: q.Seed, Projects: q.Projects, Skew: q.Skew, RowBytes: q.RowBytes, Growth: q.Growth,
		Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Span: time.Duration(q.Days) * 24 * time.Hour}
	if q.Collection == "changes" {
		m.Documents = int(all)
		all *= int64(q.PerDoc)
	}
	m.Rows, m.Of = int(min(all, int64(q.Rows))), all
	m.Extra = keys.Extra{Fields: extra, Seed: q.Seed, Unit: keys.UnitFor(all*int64(q.RowBytes), m.Span, q.chunkBytes())}
	return m
}

func (q LabKeysQuery) chunkBytes() int64 { return int64(q.ChunkMB) << 20 }
