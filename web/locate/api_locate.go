package locate

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
	"sync"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

func ApiLocate(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	asked := placement.Query{Text: q.Get("q"), NS: topology.Namespace(q.Get("ns")), Key: q.Get("key")}
	more, err := answer.AskOf(q)
	if err != nil {
		return err
	}
	found, err := ask(s, r.Context(), asked)
	if err != nil {
		return err
	}
	if writeKeyAnswer(s, w, r, q, found) {
		return nil
	}
	out := answer.LocateAnswer(found)
	answer.Explain(r.Context(), s.ViewFor(r).Table, s.Deps.Prover, found.Items, out.Items, more)
	answer.MovingPlaces(s.ViewFor(r), found.Items, out.Items)
	if site.WantsCSV(r) {
		return site.WriteLocateCSV(w, []api.LocateLine{{Line: 1, Query: asked.Text, Items: out.Items}})
	}
	out.AsOf, out.Stale = answer.DirectoryAsOf(s.ViewFor(r))
	return site.WriteJSON(w, http.StatusOK, out)
}

// ask has the same deadline for pages, the API and each line of many.
func ask(s *site.Site, ctx context.Context, q placement.Query) (placement.Answer, error) {
	if q.Text != "" && q.Key != "" {
		return placement.Answer{}, fault.New(fault.Invalid, "Give q=, or ns= with key=, not both.")
	}
	if q.NS != "" { // answered from memory
		return s.Deps.Locator.Ask(ctx, q)
	}
	ctx, cancel := context.WithTimeout(ctx, answer.LocateWait)
	defer cancel()
	found, err := s.Deps.Locator.Ask(ctx, q)
	if fault.Title(err) == fault.NoAnswerTitle {
		err = fault.Wrap(fault.Unavailable, err, "%s %s", fault.Text(err), "Nothing was found and nothing is ruled out.")
	}
	return found, err
}

// apiLocateLines looks many lines up. Lines fail one by one: a list pasted
// from a ticket is never perfect.
func ApiLocateLines(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	lines, err := readLines(r)
	if err != nil {
		return err
	}
	out := api.List[api.LocateLine]{Items: locateLines(s, r, lines)}
	if site.WantsCSV(r) {
		return site.WriteLocateCSV(w, out.Items)
	}
	out.AsOf, out.Stale = answer.DirectoryAsOf(s.ViewFor(r))
	return site.WriteJSON(w, http.StatusOK, out)
}

// locateLines asks for each line, a few at a time, and answers in their order.
func locateLines(s *site.Site, r *http.Request, lines []string) []api.LocateLine {
	out := make([]api.LocateLine, len(lines))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(answer.LocateWorkers, len(lines)) {
		workers.Go(func() {
			for i := range next {
				out[i] = locateLine(s, r, i+1, lines[i])
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

func locateLine(s *site.Site, r *http.Request, n int, text string) (line api.LocateLine) {
	line = api.LocateLine{Line: n, Query: text, Items: []api.LocateItem{}, Input: []api.Reading{}, Anatomy: []api.Anatomy{}}
	// This runs on a goroutine of its own, where nobody else would catch it.
	defer func() {
		if p := recover(); p != nil {
			s.Deps.Log.ErrorContext(r.Context(), "panic while locating a line", "line", n,
				"panic", site.LogText(fmt.Sprint(p)), "stack", string(debug.Stack()))
			problem := api.ProblemOf(errors.New("panic"), r.URL.EscapedPath())
			line.Problem = &problem
		}
	}()
	found, err := ask(s, r.Context(), placement.Query{Text: text})
	a := answer.LocateAnswer(found)
	answer.MovingPlaces(s.ViewFor(r), found.Items, a.Items)
	line.Items, line.Input, line.Cost, line.Anatomy = a.Items, a.Input, a.Cost, a.Anatomy
	if answer.Silent(found) {
		line.Query = ""
	}
	if err != nil {
		if kind := fault.Of(err); kind == fault.Internal {
			s.Deps.Log.ErrorContext(r.Context(), "locate a line", "line", n, "err", err)
		}
		p := s.ProblemOf(err, r.URL.EscapedPath())
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
	case kind == site.MediaJSON:
		var in api.LocateRequest
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			return nil, fault.Wrap(fault.Invalid, err, `The body is not JSON of the form {"lines": ["…"]}.`)
		}
		lines = in.Lines
	case kind == "" || kind == "text/plain":
		scan := bufio.NewScanner(bytes.NewReader(body))
		scan.Buffer(nil, answer.MaxLocate+1)
		for scan.Scan() {
			lines = append(lines, scan.Text())
		}
	default:
		return nil, &site.StatusError{Status: http.StatusUnsupportedMediaType, Text: "Send text/plain, one query a line, or application/json."}
	}
	return answer.KeptLines(lines)
}
