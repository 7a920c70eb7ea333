package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/sheet"
)

// exportCmd writes all that can be read to files.
type exportCmd struct {
	To    string        `required:"" type:"path" placeholder:"DIR|FILE.zip" help:"Directory or ZIP file to write; it must not exist, or be an empty directory."`
	Since time.Duration `default:"24h" help:"How much of activity and history to export, up to now."`

	sourceFlags `embed:""`
}

// Help tells what is in it.
func (exportCmd) Help() string {
	return "Cluster, shards, collections, all chunks, zones, projects, matrix, layout, activity, moves, failures, history, heat, " +
		"advice, map " +
		"and runs, each as JSON and CSV with the names and columns of the API. manifest.json has the time, the cluster, the version, the " +
		"number of rows, and what could not be read and why. The files can be read by their owner only."
}

// exported are the resources of an export, in this order.
var exported = []string{"cluster", "shards", "collections", "chunks", "zones", "projects", "matrix", "layout", "activity", "moves",
	"failures",
	"history", "heat", "advice", "map", "runs"}

// manifest says what an export has.
type manifest struct {
	Time    time.Time       `json:"time"`
	Version string          `json:"version"` // of the program that exported
	Source  string          `json:"source"`  // the server's address, or cluster
	From    time.Time       `json:"from"`    // of activity and history
	Cluster *api.Cluster    `json:"cluster"` // null if it could not be read
	Parts   []exportedPart  `json:"parts"`
	Missing []exportMissing `json:"missing"`
	failure error           // the first that was not to be expected
	names   map[string]bool // of files
}

// exportedPart is one list or object, in one or two files.
type exportedPart struct {
	Name  string   `json:"name"`
	Rows  int      `json:"rows"`
	Cut   bool     `json:"cut"` // the API lists no more than these
	Files []string `json:"files"`
}

// exportMissing is what could not be read.
type exportMissing struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"` // of the error
	Reason string `json:"reason"`
}

// Run exports.
func (c exportCmd) Run(e *env) error {
	if c.Since <= 0 {
		return fault.New(fault.Invalid, "--since must be longer than 0.")
	}
	out, err := newExportFiles(c.To)
	if err != nil {
		return err
	}
	defer out.discard()
	s, err := c.open(e, "")
	if err != nil {
		return err
	}
	defer s.close(e.ctx)
	now := time.Now()
	m := &manifest{Time: now.UTC(), Version: version, Source: s.remote.String(), From: now.Add(-c.Since).UTC(), Parts: []exportedPart{},
		Missing: []exportMissing{}, names: map[string]bool{}}
	if s.direct != nil {
		m.Source = "cluster"
	}
	for _, name := range exported {
		r, _ := resourceNamed(name)
		if r.server != "" && s.direct != nil {
			m.lacks(name, fault.New(fault.NotFound, "%s, so only a running server knows this.", r.server), false)
			continue
		}
		if err := m.export(e, s.remote, out, r); err != nil {
			return err
		}
	}
	if e.ctx.Err() != nil {
		return fault.Wrap(fault.Conflict, e.ctx.Err(), "The export was ended before it was complete; nothing was written.")
	}
	if err := out.finish(m); err != nil {
		return err
	}
	rows := 0
	for _, p := range m.Parts {
		rows += p.Rows
	}
	line(e.stdout, "Written to %s. Parts: %d. Rows: %d.", c.To, len(m.Parts), rows)
	for _, x := range m.Missing {
		e.note("not exported: %s: %s", x.Name, x.Reason)
	}
	for _, p := range m.Parts {
		if p.Cut {
			e.note("%s: there may be more than %d, which the API does not list.", p.Name, p.Rows)
		}
	}
	if m.failure != nil {
		return fault.Wrap(fault.Of(m.failure), m.failure, "Not everything could be read; manifest.json says what and why.")
	}
	return nil
}

// lacks notes what could not be read; failed tells whether that is a failure of the export.
func (m *manifest) lacks(name string, err error, failed bool) {
	m.Missing = append(m.Missing, exportMissing{name, fault.Of(err).String(), message(err)})
	if failed && m.failure == nil {
		m.failure = err
	}
}

// export writes one resource: one list for each collection or kind, where it has several.
func (m *manifest) export(e *env, remote app.Remote, out *exportFiles, r resource) error {
	queries, err := m.queries(e.ctx, remote, r)
	if err != nil {
		m.lacks(r.name, err, true)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(queries)) {
		q := queries[name]
		part := exportedPart{Name: name}
		err := q.writeFiles(e.ctx, remote, out, m.fileName(name), &part)
		var file *os.PathError
		switch {
		case e.ctx.Err() != nil:
			return nil
		case errors.As(err, &file):
			return fault.Wrap(fault.Unavailable, err, "The export cannot be written: %v.", err)
		case err != nil:
			// A server that changes nothing has no runs, and one without a history has no past.
			m.lacks(name, err, fault.Of(err) != fault.NotFound)
			continue
		}
		m.Parts = append(m.Parts, part)
		if e.out.tty {
			e.note("%s: %d", name, part.Rows)
		}
	}
	return nil
}

// fileName is a name for files that no other part has, on every file system.
func (m *manifest) fileName(name string) string {
	if dir, base, of := strings.Cut(name, "/"); of { // the name of a collection can have slashes of its own
		name = dir + "/" + sheet.FileName(base)
	}
	file := name
	for n := 2; m.names[file]; n++ {
		file = fmt.Sprintf("%s_%d", name, n)
	}
	m.names[file] = true
	return file
}

// queries are what a resource asks for, by their names in the export.
func (m *manifest) queries(ctx context.Context, remote app.Remote, r resource) (map[string]query, error) {
	base := query{resource: r, output: "json", filters: url.Values{}}
	one := func(path string, values ...string) query {
		q := base
		q.question, q.path = question(path), fill(path, values)
		if _, span := q.question.Param("from"); span && r.name != "chunks" {
			q.filters = url.Values{"from": {m.From.Format(time.RFC3339)}}
		}
		return q
	}
	switch {
	case r.name == "cluster":
		var about api.Cluster
		if err := remote.Get(ctx, api.Prefix+r.one, &about); err != nil {
			return nil, err
		}
		m.Cluster = &about
		return map[string]query{r.name: one(r.one)}, nil
	case len(r.by) > 0:
		out := map[string]query{}
		for i, path := range r.lists() {
			out[r.name+"/"+r.by[i]] = one(path)
		}
		return out, nil
	case r.name == "chunks":
		out := map[string]query{}
		next := "?limit=1000"
		for next != "" {
			var list api.List[api.Collection]
			if err := remote.Get(ctx, api.Prefix+"/collections"+next, &list); err != nil {
				return nil, err
			}
			for _, x := range list.Items {
				if x.Sharded && x.Chunks > 0 {
					out["chunks/"+x.NS] = one(r.part, x.NS)
				}
			}
			if next = ""; list.Next != "" {
				next = "?limit=1000&cursor=" + url.QueryEscape(string(list.Next))
			}
		}
		return out, nil
	}
	return map[string]query{r.name: one(r.list)}, nil
}

// writeFiles writes an answer as JSON, and a list as CSV too.
func (q query) writeFiles(ctx context.Context, remote app.Remote, out *exportFiles, name string, part *exportedPart) (err error) {
	asJSON, err := out.create(name + ".json")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, asJSON.Close()) }()
	part.Files = append(part.Files, name+".json")
	w := bufio.NewWriter(asJSON)
	if !q.isList() {
		text, _, err := remote.Read(ctx, q.address(nil), "")
		if err != nil {
			out.remove(name + ".json")
			return err
		}
		part.Rows = 1
		fmt.Fprintln(w, indented(text, ""))
		return w.Flush()
	}
	asCSV, err := out.create(name + ".csv")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, asCSV.Close()) }()
	part.Files = append(part.Files, name+".csv")
	columns := sheet.ColumnsOf(q.item())
	both := &bothLines{json: &jsonLines{w: w, field: q.rowsField()}, rows: &part.Rows,
		csv: &csvLines{out: sheet.NewWriter(asCSV, columns.Names()...), columns: columns, item: q.item()}}
	if err := q.pages(ctx, remote, both); err != nil {
		out.remove(name + ".json")
		out.remove(name + ".csv")
		return err
	}
	part.Cut = both.cut
	return w.Flush()
}
