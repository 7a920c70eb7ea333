package survey

import (
	"context"
	"encoding/json"
	"fmt"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// work is a survey's plan and partial sums. It is stored as JSON between two steps and read by the
// process that resumes it.
type work interface {
	// step makes one read; true when nothing is left to do.
	step(ctx context.Context, r *Reader) (bool, error)
	// progress returns how much is done, and of how much; negative: unknown.
	progress() (done, total int64)
	// result returns the measurements so far.
	result(t *topology.Table) Result
}

// plan completes a request and makes its work.
func (e *Engine) plan(t *topology.Table, r Request) (Request, work, error) {
	dbs := e.prof.Match(t)
	if len(dbs) == 0 {
		return r, nil, fault.New(fault.NotFound, "No database here matches the profile's layout, so there is nothing to survey.")
	}
	if r.Kind == Project && r.DB == "" {
		p, ok := e.project(r)
		if !ok {
			return r, nil, fault.New(fault.NotFound, e.prof.Format("There is no project with id %s."), r.Project.Hex())
		}
		r.DB = p.DB
	}
	var scope profile.Scope
	var w work
	switch r.Kind {
	case Projects, Project:
		scope, w = profile.ScopeProject, newCounting(t, e.prof, e.dirs.Directory(), r)
	default:
		d := newDocuments(Targets(t, e.prof, r, profile.ScopeDocument), r.Project, r.Document)
		if e.prof.AnyID() {
			d.ofAnyType(r.DocumentText())
		}
		if p, ok := e.project(r); ok {
			d.Values.add(p.IDValue())
		} else if placement.IsStandIn(r.Project) {
			return r, nil, fault.New(fault.NotFound, e.prof.Format("There is no project with id %s."), r.Project.Hex())
		}
		scope, w = profile.ScopeDocument, d
	}
	if len(Targets(t, e.prof, r, scope)) == 0 {
		return r, nil, fault.New(fault.NotFound, "No collection here can be measured by this kind of survey.")
	}
	return r, w, nil
}

// project is that of a request; the first of several databases that have its id if no database is named.
func (e *Engine) project(r Request) (placement.Project, bool) {
	if r.DB == "" {
		return e.dirs.Directory().ByID(r.Project)
	}
	return e.dirs.Directory().In(r.DB, r.Project)
}

// body is what the store has of a survey besides its head.
type body struct {
	Work   json.RawMessage `json:",omitempty"`
	Result *Result         `json:",omitempty"`
}

func encodeBody(j *job) ([]byte, error) {
	b := body{Result: j.result}
	if j.result == nil && j.work != nil {
		raw, err := json.Marshal(j.work)
		if err != nil {
			return nil, fmt.Errorf("write survey: %w", err)
		}
		b.Work = raw
	}
	out, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("write survey: %w", err)
	}
	return out, nil
}

func decodeBody(k Kind, raw []byte) (work, *Result, error) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, nil, fmt.Errorf("read survey: %w", err)
	}
	if b.Work == nil || k == Sample {
		return nil, b.Result, nil
	}
	var w work
	switch k {
	case Projects, Project:
		w = &counting{}
	case Document:
		w = &documents{}
	default:
		return nil, nil, fmt.Errorf("read survey: kind %q", k)
	}
	if err := json.Unmarshal(b.Work, w); err != nil {
		return nil, nil, fmt.Errorf("read survey: %w", err)
	}
	return w, nil, nil
}
