package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat"
	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// measureEverything collects write counts, samples sizes and runs a survey of each
// kind. In a small cluster the survey engine and the collector skip some reads, so
// those are called directly.
func (r *reader) measureEverything(ctx context.Context, sample sample, all *complaints) {
	counted := heat.Counted(r.watcher.Table(), profile.Yorkie())
	if len(counted) == 0 {
		all.note("heat", errors.New("no collection's writes are counted"))
	}
	for _, ns := range counted {
		h, ok := r.heat.Health(ns)
		if !ok {
			all.note("heat "+string(ns), errors.New("not counted"))
		}
		all.note("heat "+string(ns), h.Err)
	}
	now := time.Now()
	for _, c := range profile.Yorkie().Layouts[0].Collections {
		if c.ProjectField == "" || c.Scope == profile.ScopeCluster {
			continue
		}
		ns := topology.Namespace("yorkie-meta." + c.Name)
		of := heat.WriteQuery{NS: ns, Project: c.ProjectField, Document: c.DocumentField, From: now.Add(-time.Hour), To: now, Limit: 10}
		_, err := r.client.Writes(ctx, of)
		all.note("writes of "+string(ns), err)
		if of.Date = c.WrittenAt; of.Date != "" {
			of.Of = placement.ObjectIDValue(sample.project)
			_, err = r.client.Writes(ctx, of)
			all.note("changed rows of "+string(ns), err)
		}
		_, err = r.client.Operations(ctx, ns)
		all.note("operations of "+string(ns), err)
		if coll := r.watcher.Table().Collection(ns); coll != nil {
			_, err = r.client.RangeSize(ctx, coll.Meta, rangeOf(coll.Chunks.At(0)), false)
			all.note("size of a chunk of "+string(ns), err)
		}
		_, err = r.client.SampleSizes(ctx, survey.SizeQuery{NS: ns, Project: c.ProjectField, Document: c.DocumentField, Dead: c.Dead, Limit: 5})
		all.note("sample of "+string(ns), err)
	}
	for _, q := range []survey.Request{
		{Kind: survey.Projects}, {Kind: survey.Project, Project: sample.project},
		{Kind: survey.Document, Project: sample.project, Document: sample.document},
	} {
		r.survey(ctx, q, all)
	}
}

// survey runs one survey and records what it could not read.
func (r *reader) survey(ctx context.Context, q survey.Request, all *complaints) {
	what := "survey " + string(q.Kind)
	started, err := r.surveys.Start(ctx, q, store.AuditEntry{By: "test"})
	if err != nil {
		all.note(what, err)
		return
	}
	for range 600 {
		s, result, err := r.surveys.Survey(ctx, started.ID)
		if err != nil {
			all.note(what, err)
			return
		}
		if !s.State.Ended() {
			time.Sleep(time.Second)
			continue
		}
		if s.State != survey.Done {
			all.note(what, fmt.Errorf("%s: %s", s.State, s.Problem))
		}
		if result == nil || len(result.Collections) == 0 {
			all.note(what, errors.New("it measured nothing"))
			return
		}
		for _, c := range result.Collections {
			if c.Reason != "" {
				all.note(what, fmt.Errorf("%s: %s", c.NS, c.Reason))
			}
		}
		return
	}
	all.note(what, errors.New("it does not end"))
}

// isDocumentSize reports whether an expression is the size of the document, which reveals
// no field.
func isDocumentSize(v bson.RawValue) bool {
	return isExpression(v, "$bsonSize", func(of bson.RawValue) bool {
		text, ok := of.StringValueOK()
		return ok && text == "$$ROOT"
	})
}

// countsOrAddsSizes reports whether an accumulator counts documents or adds up their sizes.
func countsOrAddsSizes(v bson.RawValue) bool {
	return isExpression(v, "$sum", func(of bson.RawValue) bool { return of.IsNumber() || isDocumentSize(of) })
}

// isExpression reports whether a value is one operator with that operand.
func isExpression(v bson.RawValue, operator string, operand func(bson.RawValue) bool) bool {
	doc, ok := v.DocumentOK()
	if !ok {
		return false
	}
	parts, err := doc.Elements()
	return err == nil && len(parts) == 1 && parts[0].Key() == operator && operand(parts[0].Value())
}

// checkOnlyNumbers checks that a $group returns only numbers, overall or by the ids of projects
// and documents.
func checkOnlyNumbers(group bson.Raw) error {
	elements, err := group.Elements()
	if err != nil {
		return err
	}
	for _, el := range elements {
		switch by, isDoc := el.Value().DocumentOK(); {
		case el.Key() != "_id":
			if !countsOrAddsSizes(el.Value()) {
				return fmt.Errorf("%s is no number of documents or bytes", el)
			}
		case el.Value().Type == bson.TypeNull:
		case !isDoc:
			return fmt.Errorf("a group by values")
		default:
			parts, err := by.Elements()
			if err != nil {
				return err
			}
			for _, p := range parts {
				if name, _ := p.Value().StringValueOK(); name != "$project_id" && name != "$doc_id" && name != "$_id" {
					return fmt.Errorf("a group by %s", p)
				}
			}
		}
	}
	return nil
}
