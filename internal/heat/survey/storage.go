package survey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"shardboard/internal/store"
)

const (
	// Partial sums of more than heavy bytes are stored only once every seldom and not after every
	// read. Position and sums are stored together, so a restart only repeats the reads since then.
	largeBody             = 256 << 10
	largeBodySaveInterval = 10 * time.Second
)

// unreadableText is the problem of a survey whose stored row cannot be decoded.
const unreadableText = "This survey is unreadable: its row in the database was changed or damaged. Start a new survey."

// load reads the stored surveys of this cluster once its id is known: all heads, the newest
// results, and the work of interrupted surveys.
func (e *Engine) load(ctx context.Context) error {
	t := e.tables.Table()
	if t == nil || !t.Loaded {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.loaded {
		return nil
	}
	e.cluster = t.ClusterID
	if e.o.Store == nil {
		e.loaded = true
		return nil
	}
	heads, err := e.o.Store.SurveyHeads(ctx, e.cluster, keptSurveys+queueLength)
	if err != nil {
		return err
	}
	var jobs []*job
	for i, h := range heads {
		j := &job{}
		if err := json.Unmarshal(h.Head, &j.Survey); err != nil || j.ID != h.ID {
			// One damaged row hides none of the others.
			e.o.Log.Error("a survey is unreadable", "survey", h.ID, "err", err)
			j.Survey = Survey{ID: h.ID, Queued: h.At, State: Failed, Problem: unreadableText}
			jobs = append(jobs, j)
			continue
		}
		if i < inMemory || !j.State.Ended() {
			raw, err := e.o.Store.SurveyBody(ctx, e.cluster, h.ID)
			if err != nil {
				return err
			}
			if j.work, j.result, err = decodeBody(j.Request.Kind, raw); err != nil {
				e.o.Log.Error("a survey is unreadable", "survey", h.ID, "err", err)
				j.work, j.result, j.State, j.Problem = nil, nil, Failed, unreadableText
			}
			if j.work == nil && !j.State.Ended() {
				j.State, j.Problem = Failed, "It cannot be resumed: its stored work is missing, or it is a sample, which this version does not take."
			}
		}
		jobs = append(jobs, j)
	}
	e.jobs, e.loaded = jobs, true
	return nil
}

// storeProgress stores the state after a step.
func (e *Engine) storeProgress(ctx context.Context, j *job, now bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !now && j.size > largeBody && e.o.Now().Sub(j.saved) < largeBodySaveInterval || ctx.Err() != nil {
		return nil
	}
	return e.save(ctx, j)
}

// save stores a survey with the audit entries of whoever requested it; the caller holds the lock.
func (e *Engine) save(ctx context.Context, j *job, told ...store.AuditEntry) error {
	if e.o.Store == nil {
		return nil
	}
	head, err := json.Marshal(j.Survey)
	if err != nil {
		return fmt.Errorf("write survey: %w", err)
	}
	raw, err := encodeBody(j)
	if err != nil {
		return err
	}
	j.saved, j.size = e.o.Now(), len(raw)
	return e.o.Store.SaveSurvey(ctx, e.cluster, store.Survey{ID: j.ID, At: j.Queued, Head: head, Body: raw}, told...)
}

// trim deletes surveys that are too old; the caller holds the lock.
func (e *Engine) trim(ctx context.Context) {
	results, ended := 0, 0
	e.jobs = slices.DeleteFunc(e.jobs, func(j *job) bool {
		if !j.State.Ended() {
			return false
		}
		if ended++; ended <= keptSurveys {
			if results++; results > inMemory && e.o.Store != nil {
				j.result = nil
			}
			return false
		}
		if e.o.Store != nil {
			if err := e.o.Store.DropSurvey(ctx, e.cluster, j.ID); err != nil && !errors.Is(err, context.Canceled) {
				e.o.Log.Warn("delete an old survey", "err", err)
			}
		}
		return true
	})
}
