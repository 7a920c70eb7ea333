package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"shardboard/internal/app"
	"shardboard/internal/fault"
)

// demoReceiver is where a demo sends its alerts: a server on loopback that takes every message and
// keeps none, so that the page of alerts has something to show.
type demoReceiver struct{ http *http.Server }

// maxAlertMessage is how much of a message is read, in bytes.
const maxAlertMessage = 1 << 20

// startDemoReceiver starts the receiver and makes the alerts' configuration for it.
func startDemoReceiver() (*demoReceiver, app.AlertConfig, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fault.Wrap(fault.Unavailable, err, "The demo's receiver of alerts cannot listen on loopback: %v.", err)
	}
	take := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxAlertMessage))
		w.WriteHeader(http.StatusNoContent)
	}
	r := &demoReceiver{&http.Server{Handler: http.HandlerFunc(take), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}}
	config, err := app.ParseAlerts("demo", fmt.Sprintf(
		"for: 2m\ntargets:\n  - {name: demo-inbox, format: generic, url: \"http://%s/\"}\n", l.Addr()))
	if err != nil {
		_ = l.Close()
		return nil, nil, err
	}
	go func() { _ = r.http.Serve(l) }() // ended by Close
	return r, config, nil
}

func (r *demoReceiver) Close() error { return r.http.Close() }
