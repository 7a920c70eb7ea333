package main

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
)

func TestPostmortemIsPrintedAsMarkdown(t *testing.T) {
	only.Long(t, "starts a server")
	server := startServer(t)
	for _, c := range []struct {
		args []string
		ok   bool
		want string
	}{
		{nil, true, "# Post-mortem: "},
		{[]string{"--last", "2h"}, true, "## What was done with shardboard"},
		{[]string{"--last", "2h", "--to", "2026-03-01T00:00:00Z"}, false, "Give --last"},
		{[]string{"--from", "yesterday"}, false, "from must be a time"},
	} {
		code, out, errs := shardboard(t, append([]string{"postmortem", "--server", server}, c.args...)...)
		expect.That(t, (code == 0) == c.ok && strings.Contains(out+errs, c.want), "%v: exit %d, %s%s", c.args, code, out, errs)
	}
}

// A running server remembers problems, and that it has looked for them.
func TestAServerRemembersItsProblems(t *testing.T) {
	only.Long(t, "starts a server")
	server := startServer(t)
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		now := getJSON[api.AdviceList](t, server, "get", "advice") // also lets it look
		past := getJSON[api.PastProblems](t, server, "get", "past-problems")
		known := map[string]bool{}
		for _, p := range past.Items {
			known[p.ID] = true
		}
		missing := 0
		for _, p := range now.Items {
			if !known[p.ID] {
				missing++
			}
		}
		judged := len(past.NotJudged) == 1 && past.NotJudged[0].To.Before(past.To)
		if judged && missing == 0 {
			return
		}
		must.That(t, !time.Now().After(deadline),
			"judged: %+v; %d of %d problems are not remembered", past.NotJudged, missing, len(now.Items))
	}
}
