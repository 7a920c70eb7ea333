package main

import (
	"crypto/rand"
	"encoding/binary"
	"net/url"
	"os"
	"time"

	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/localityid"
)

// idCmd makes locality UUIDs, or takes some apart. It needs no server and no cluster.
type idCmd struct {
	IDs []string `arg:"" optional:"" name:"id" help:"Locality UUIDs to take apart; none: make some."`

	Count   string `short:"n" placeholder:"N" help:"How many ids to make, from 1 to 100000; default 1."`
	Mode    string `placeholder:"MODE" help:"default (they spread over the key space) or sequential (those of the same ten minutes lie together)."`
	Time    string `placeholder:"TIME" help:"The time in all ids: RFC 3339, or milliseconds since 1970; default now."`
	Process string `placeholder:"N" help:"Id of the process in the ids, from 0 to 65535; default that of this one."`
	MAC     string `name:"mac" placeholder:"MAC" help:"MAC address whose last 28 bits are in the ids; default that of this machine."`
	Counter string `placeholder:"N" help:"Of the default mode: the counter before the first id, from 0 to 4294967295; default random."`

	Output string `short:"o" enum:"table,json,csv" default:"table" help:"table, json or csv."`
}

// Help tells what the fields are.
func (idCmd) Help() string {
	return "A locality UUID has a counter, the id of the process, the end of a MAC address and the time in milliseconds. With --time, " +
		"--process, --mac and --counter the same ids are made again. In a pipe the table has the ids alone, one in a line; other UUIDs " +
		"and ObjectIDs are taken apart by locate."
}

// Run makes or inspects ids.
func (c idCmd) Run(e *env) error {
	made := url.Values{}
	for name, value := range map[string]string{"count": c.Count, "mode": c.Mode, "time": c.Time, "process": c.Process, "mac": c.MAC,
		"counter": c.Counter} {
		if value == "" {
			continue
		}
		if len(c.IDs) > 0 {
			return fault.New(fault.Invalid, "--%s is for making ids, and goes with no id to take apart.", name)
		}
		made.Set(name, value)
	}
	if len(c.IDs) > 0 {
		var out []api.LocalityID
		for _, text := range c.IDs {
			id, err := trying.InspectLocalityID(text, time.Now())
			if err != nil {
				return err
			}
			out = append(out, id)
		}
		return writeItems(e, c.Output, out)
	}
	q := trying.LocalityIDQuery{Options: localityid.Options{Process: uint16(os.Getpid()), MAC: localityid.HostMAC(),
		Counter: randomCounter()}}
	if err := q.Parameters().Read(made); err != nil {
		return err
	}
	if c.Output == "table" && !e.out.tty {
		return writeIDs(e, q)
	}
	return writeItems(e, c.Output, trying.MakeLocalityIDs(q))
}

// randomCounter is where processes of the default mode begin, each elsewhere.
func randomCounter() uint32 {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	return binary.BigEndian.Uint32(random[:])
}
