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
)

func (s *Server) apiLocate(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if q.Get("q") != "" && q.Get("ns") != "" {
		return fault.New(fault.Invalid, "Give q=, or ns= with key=, not both.")
	}
	items, err := s.locate(r.Context(), placement.Query{Text: q.Get("q"), NS: topology.Namespace(q.Get("ns")), Key: q.Get("key")})
	if err != nil {
		return err
	}
	if wantsCSV(r) {
		return writeLocateCSV(w, []api.LocateLine{{Line: 1, Query: q.Get("q"), Items: items}})
	}
	out := api.List[api.LocateItem]{Items: items}
	out.AsOf, out.Stale = directoryAsOf(s.view())
	return writeJSON(w, http.StatusOK, out)
}

// locate asks with the same deadline as the page.
func (s *Server) locate(ctx context.Context, q placement.Query) ([]api.LocateItem, error) {
	ctx, cancel := context.WithTimeout(ctx, locateWait)
	defer cancel()
	found, err := s.deps.Locator.Locate(ctx, q)
	if err != nil {
		return nil, err
	}
	return LocateItems(found), nil
}

// locateWorkers is how many lines of one POST are looked up at a time: enough
// to hide a round trip, few enough not to crowd the mongos.
const locateWorkers = 8

// apiLocateLines looks many lines up. Lines fail one by one: a list pasted
// from a ticket is never perfect.
func (s *Server) apiLocateLines(w http.ResponseWriter, r *http.Request) error {
	lines, err := readLines(r)
	if err != nil {
		return err
	}
	out := api.List[api.LocateLine]{Items: make([]api.LocateLine, len(lines))}
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(locateWorkers, len(lines)) {
		workers.Go(func() {
			for i := range next {
				out.Items[i] = s.locateLine(r, i+1, lines[i])
			}
		})
	}
	for i := range lines {
		next <- i
	}
	close(next)
	workers.Wait()
	if wantsCSV(r) {
		return writeLocateCSV(w, out.Items)
	}
	out.AsOf, out.Stale = directoryAsOf(s.view())
	return writeJSON(w, http.StatusOK, out)
}

func (s *Server) locateLine(r *http.Request, n int, text string) (line api.LocateLine) {
	line = api.LocateLine{Line: n, Query: text, Items: []api.LocateItem{}}
	// This runs on a goroutine of its own, where nobody else would catch it.
	defer func() {
		if p := recover(); p != nil {
			s.deps.Log.ErrorContext(r.Context(), "panic while locating a line", "line", n,
				"panic", logText(fmt.Sprint(p)), "stack", string(debug.Stack()))
			problem := api.ProblemOf(errors.New("panic"), r.URL.EscapedPath())
			line.Problem = &problem
		}
	}()
	items, err := s.locate(r.Context(), placement.Query{Text: text})
	if err != nil {
		if kind := fault.Of(err); kind == fault.Internal {
			s.deps.Log.ErrorContext(r.Context(), "locate a line", "line", n, "err", err)
		}
		p := api.ProblemOf(err, r.URL.EscapedPath())
		line.Problem = &p
		return line
	}
	line.Items = items
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
		return nil, &statusError{http.StatusUnsupportedMediaType, "Send text/plain, one query a line, or application/json."}
	}
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
