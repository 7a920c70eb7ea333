package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// DuplicateChecker is the background check for ids on more than one shard.
type DuplicateChecker interface {
	Start(resume bool, from map[topology.Namespace]bson.ObjectID) error
	Stop() error
	Report() placement.CheckReport
}

// checker is the check, or why there is none.
func (s *Site) checker() (DuplicateChecker, error) {
	if s.deps.Duplicates == nil {
		return nil, fault.New(fault.Unavailable, "This server cannot check ids in the background.")
	}
	return s.deps.Duplicates, nil
}

// report is the state of the check; idle where there is none.
func (s *Site) report() placement.CheckReport {
	if s.deps.Duplicates == nil {
		return placement.CheckReport{State: placement.CheckIdle, Left: -1}
	}
	return s.deps.Duplicates.Report()
}

func (s *Site) apiDuplicates(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, duplicatesOf(s.viewFor(r), s.report()))
}

// apiStartDuplicates begins the check. It reads the cluster and changes
// nothing of it, so it is no action that has to be planned.
func (s *Site) apiStartDuplicates(w http.ResponseWriter, r *http.Request) error {
	c, err := s.checker()
	if err != nil {
		return err
	}
	var in api.DuplicateStart
	if err := readJSON(r, &in); err != nil {
		return err
	}
	from := map[topology.Namespace]bson.ObjectID{}
	for ns, hex := range in.From {
		id, err := bson.ObjectIDFromHex(hex)
		if err != nil && hex != "" {
			return fault.Wrap(fault.Invalid, err, "from is an id of 24 hexadecimal digits for each collection.")
		}
		from[topology.Namespace(ns)] = id
	}
	if err := c.Start(in.Resume, from); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, duplicatesOf(s.viewFor(r), c.Report()))
}

func (s *Site) apiStopDuplicates(w http.ResponseWriter, r *http.Request) error {
	c, err := s.checker()
	if err != nil {
		return err
	}
	if err := c.Stop(); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, duplicatesOf(s.viewFor(r), c.Report()))
}

// readJSON reads a body that is one JSON value without unknown fields; an
// empty body is the zero value.
func readJSON(r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Header.Get("Content-Type") != "" && (err != nil || kind != mediaJSON) {
		return &statusError{status: http.StatusUnsupportedMediaType, text: "Send application/json."}
	}
	var text bytes.Buffer
	dec := json.NewDecoder(io.TeeReader(r.Body, &text))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var tooLong *http.MaxBytesError
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.As(err, &tooLong):
		return err
	case err != nil:
		return fault.Wrap(fault.Invalid, err, "The body is not the JSON that this address takes.")
	case dec.More():
		return fault.New(fault.Invalid, "The body goes on after its JSON value.")
	}
	if name, twice := twiceNamed(text.Bytes()); twice {
		return fault.New(fault.Invalid, "The body has %q twice; which of them is meant is not known.", sanitize.Truncate(sanitize.Sentence(name), 60))
	}
	return nil
}

func duplicatesOf(v View, r placement.CheckReport) api.DuplicateCheck {
	out := api.DuplicateCheck{
		State: string(r.State), Started: instant(r.Started), Ended: instant(r.Ended), Found: r.FoundCount, Problem: r.Problem,
		Collections: []api.DuplicateCollection{}, Items: []api.DuplicateID{},
	}
	if r.Left >= 0 {
		left := int64(r.Left.Round(time.Second) / time.Second)
		out.LeftSeconds = &left
	}
	for _, c := range r.Collections {
		next := ""
		if !c.Next.IsZero() {
			next = c.Next.Hex()
		}
		out.Collections = append(out.Collections, api.DuplicateCollection{NS: string(c.NS), Read: c.Read, Total: figureOf(c.Total), Next: next, Done: c.Done})
	}
	for _, id := range r.Found {
		one := api.DuplicateID{NS: string(id.NS), ID: id.ID.Hex(), At: id.At.UTC(), Rows: []api.DuplicateRow{}}
		for _, row := range id.Rows {
			p, _ := v.Dir.In(id.NS.Database(), row.Project)
			one.Rows = append(one.Rows, api.DuplicateRow{Shard: row.Shard, Project: row.Project.Hex(), ProjectName: p.Name})
		}
		out.Items = append(out.Items, one)
	}
	return out
}

// instant is null for a time that has not come.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
