package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

func (s *Site) apiLocate(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	asked := placement.Query{Text: q.Get("q"), NS: topology.Namespace(q.Get("ns")), Key: q.Get("key")}
	more, err := askOf(q)
	if err != nil {
		return err
	}
	found, err := s.ask(r.Context(), asked)
	if err != nil {
		return err
	}
	if s.writeKeyAnswer(w, r, q, found) {
		return nil
	}
	out := LocateAnswer(found)
	Explain(r.Context(), s.viewFor(r).Table, s.deps.Prover, found.Items, out.Items, more)
	movingPlaces(s.viewFor(r), found.Items, out.Items)
	if wantsCSV(r) {
		return writeLocateCSV(w, []api.LocateLine{{Line: 1, Query: asked.Text, Items: out.Items}})
	}
	out.AsOf, out.Stale = directoryAsOf(s.viewFor(r))
	return writeJSON(w, http.StatusOK, out)
}

// ask has the same deadline for pages, the API and each line of many.
func (s *Site) ask(ctx context.Context, q placement.Query) (placement.Answer, error) {
	if q.Text != "" && q.Key != "" {
		return placement.Answer{}, fault.New(fault.Invalid, "Give q=, or ns= with key=, not both.")
	}
	if q.NS != "" { // answered from memory
		return s.deps.Locator.Ask(ctx, q)
	}
	ctx, cancel := context.WithTimeout(ctx, locateWait)
	defer cancel()
	found, err := s.deps.Locator.Ask(ctx, q)
	if fault.Title(err) == fault.NoAnswerTitle {
		err = fault.Wrap(fault.Unavailable, err, "%s %s", fault.Text(err), words.T("outage.locate"))
	}
	return found, err
}

// locateWorkers is how many lines of one POST are looked up at a time: enough
// to hide a round trip, few enough not to crowd the mongos.
const locateWorkers = 8

// apiLocateLines looks many lines up. Lines fail one by one: a list pasted
// from a ticket is never perfect.
func (s *Site) apiLocateLines(w http.ResponseWriter, r *http.Request) error {
	lines, err := readLines(r)
	if err != nil {
		return err
	}
	out := api.List[api.LocateLine]{Items: s.locateLines(r, lines)}
	if wantsCSV(r) {
		return writeLocateCSV(w, out.Items)
	}
	out.AsOf, out.Stale = directoryAsOf(s.viewFor(r))
	return writeJSON(w, http.StatusOK, out)
}

// locateLines asks for each line, a few at a time, and answers in their order.
func (s *Site) locateLines(r *http.Request, lines []string) []api.LocateLine {
	out := make([]api.LocateLine, len(lines))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(locateWorkers, len(lines)) {
		workers.Go(func() {
			for i := range next {
				out[i] = s.locateLine(r, i+1, lines[i])
			}
		})
	}
	for i := range lines {
		next <- i
	}
	close(next)
	workers.Wait()
	return out
}

func (s *Site) locateLine(r *http.Request, n int, text string) (line api.LocateLine) {
	line = api.LocateLine{Line: n, Query: text, Items: []api.LocateItem{}, Input: []api.Reading{}, Anatomy: []api.Anatomy{}}
	// This runs on a goroutine of its own, where nobody else would catch it.
	defer func() {
		if p := recover(); p != nil {
			s.deps.Log.ErrorContext(r.Context(), "panic while locating a line", "line", n,
				"panic", logText(fmt.Sprint(p)), "stack", string(debug.Stack()))
			problem := api.ProblemOf(errors.New("panic"), r.URL.EscapedPath())
			line.Problem = &problem
		}
	}()
	found, err := s.ask(r.Context(), placement.Query{Text: text})
	a := LocateAnswer(found)
	movingPlaces(s.viewFor(r), found.Items, a.Items)
	line.Items, line.Input, line.Cost, line.Anatomy = a.Items, a.Input, a.Cost, a.Anatomy
	if silent(found) {
		line.Query = ""
	}
	if err != nil {
		if kind := fault.Of(err); kind == fault.Internal {
			s.deps.Log.ErrorContext(r.Context(), "locate a line", "line", n, "err", err)
		}
		p := s.problemOf(err, r.URL.EscapedPath())
		line.Items, line.Problem = []api.LocateItem{}, &p
	}
	return line
}

// readLines takes text/plain, one query a line, or JSON {"lines": […]}. Blank
// lines are left out.
func readLines(r *http.Request) ([]string, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err // MaxBytesError, or the caller is gone
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && r.Header.Get("Content-Type") != "" {
		return nil, fault.New(fault.Invalid, "The Content-Type of this request is not readable.")
	}
	var lines []string
	switch {
	case kind == mediaJSON:
		var in api.LocateRequest
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			return nil, fault.Wrap(fault.Invalid, err, `The body is not JSON of the form {"lines": ["…"]}.`)
		}
		lines = in.Lines
	case kind == "" || kind == "text/plain":
		scan := bufio.NewScanner(bytes.NewReader(body))
		scan.Buffer(nil, maxLocate+1)
		for scan.Scan() {
			lines = append(lines, scan.Text())
		}
	default:
		return nil, &statusError{status: http.StatusUnsupportedMediaType, text: "Send text/plain, one query a line, or application/json."}
	}
	return keptLines(lines)
}

// keptLines leaves blank lines out and refuses what no line can be.
func keptLines(lines []string) ([]string, error) {
	kept := lines[:0]
	for i, line := range lines {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if _, err := checkText("Line "+strconv.Itoa(i+1), line); err != nil {
			return nil, err
		}
		kept = append(kept, line)
	}
	if len(kept) == 0 || len(kept) > api.MaxLocateLines {
		return nil, fault.New(fault.Invalid, "Send 1 to %d lines; this request has %d.", api.MaxLocateLines, len(kept))
	}
	return kept, nil
}
