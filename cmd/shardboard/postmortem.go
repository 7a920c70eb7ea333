package main

import (
	"io"
	"net/url"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/postmortem"
	"shardboard/internal/api"
	"shardboard/internal/fault"
)

type postmortemCmd struct {
	remoteFlags `embed:""`
	From        string        `placeholder:"TIME" help:"Begin, such as 2026-03-01T06:30:00Z; default an hour before the end."`
	To          string        `placeholder:"TIME" help:"End; default now."`
	Last        time.Duration `placeholder:"DURATION" help:"The time up to now, instead of --from and --to: 30m, 2h; at most 168h."`
}

// Run prints the post-mortem of a time.
func (c postmortemCmd) Run(e *env) error {
	at, err := c.remote()
	if err != nil {
		return err
	}
	q := url.Values{}
	switch {
	case c.Last < 0 || c.Last > 0 && c.From+c.To != "":
		return fault.New(fault.Invalid, "Give --last, longer than 0, or --from and --to.")
	case c.Last > 0:
		q.Set("from", answer.AtText(time.Now().Add(-c.Last)))
	default:
		for name, text := range map[string]string{"from": c.From, "to": c.To} {
			if text != "" {
				q.Set(name, text)
			}
		}
	}
	var found api.Postmortem
	if err := at.Get(e.ctx, api.Prefix+"/postmortem?"+q.Encode(), &found); err != nil {
		return err
	}
	_, err = io.WriteString(e.stdout, postmortem.PostmortemMarkdown(found))
	return err
}
