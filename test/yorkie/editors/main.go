// Command editors creates projects on a Yorkie server and edits documents in them for a while. It is a
// development tool: the suite on real clusters counts the rows that the server then writes.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/yorkie-team/yorkie/admin"
	"github.com/yorkie-team/yorkie/client"
	"github.com/yorkie-team/yorkie/pkg/document"
	yorkie "github.com/yorkie-team/yorkie/pkg/document/json"
	"github.com/yorkie-team/yorkie/pkg/document/presence"
	"github.com/yorkie-team/yorkie/pkg/key"
)

// project is what is printed of each project, one line of JSON each, before the editing begins.
type project struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	key  string
}

func main() {
	addr := flag.String("addr", "", "address of the Yorkie server")
	projects := flag.Int("projects", 3, "number of projects")
	editors := flag.Int("editors", 6, "number of editors, more for the first projects than for the last")
	long := flag.Duration("for", time.Minute, "how long to edit")
	again := flag.Bool("again", false, "an editor that fails begins again")
	pause := flag.Duration("pause", 50*time.Millisecond, "time between two edits of an editor")
	flag.Parse()
	if err := run(context.Background(), *addr, *projects, *editors, *long, *pause, *again); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr string, projects, editors int, long, pause time.Duration, again bool) error {
	all, err := create(ctx, addr, projects)
	if err != nil {
		return err
	}
	for _, p := range all {
		line, err := json.Marshal(p)
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	end, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	var group sync.WaitGroup
	failed := make([]error, editors)
	for n := range editors {
		// 0, 0, 1, 0, 1, 2, 0, 1, 2, 3, …: the first project is the hottest.
		at, of := n, 1
		for at >= of {
			at, of = at-of, of+1
		}
		group.Go(func() {
			failed[n] = edit(end, n, addr, all[at%projects].key, pause)
			for again && failed[n] != nil && end.Err() == nil {
				time.Sleep(time.Second) // the server or its cluster is away
				failed[n] = edit(end, n, addr, all[at%projects].key, pause)
			}
		})
	}
	group.Wait()
	for n, err := range failed {
		if err != nil && !again {
			return fmt.Errorf("editor %d: %w", n, err)
		}
	}
	return nil
}

// create signs in, as soon as the server answers, and creates the projects.
func create(ctx context.Context, addr string, n int) (all []project, err error) {
	cli, err := admin.Dial(addr, admin.WithInsecure(true))
	if err != nil {
		return nil, err
	}
	defer cli.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if _, err = cli.LogIn(ctx, "admin", "admin"); err == nil {
			break
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("sign in: %w", err)
		}
	}
	for i := range n {
		name := fmt.Sprintf("suite-%d-%d", i, os.Getpid())
		p, err := cli.CreateProject(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("create project: %w", err)
		}
		all = append(all, project{p.ID.String(), name, p.PublicKey})
	}
	return all, nil
}

// edit edits two documents until the context ends. Calls are not cancelled: that would look like a
// failure of the server.
func edit(ctx context.Context, n int, addr, apiKey string, pause time.Duration) error {
	c, err := client.Dial(addr, client.WithAPIKey(apiKey))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	call := context.WithoutCancel(ctx)
	if err := c.Activate(call); err != nil {
		return fmt.Errorf("activate: %w", err)
	}
	var docs []*document.Document
	for i := range 2 {
		d := document.New(key.Key(fmt.Sprintf("sheet-%d-%d", n, i)))
		if err := c.Attach(call, d); err != nil {
			return fmt.Errorf("attach: %w", err)
		}
		docs = append(docs, d)
	}
	for i := 0; ctx.Err() == nil; i++ {
		d := docs[rand.IntN(len(docs))]
		err := d.Update(func(root *yorkie.Object, _ *presence.Presence) error {
			root.SetInteger("last", i)
			return nil
		})
		if err != nil {
			return fmt.Errorf("update: %w", err)
		}
		if err := c.Sync(call, client.WithKey(d.Key())); err != nil {
			return fmt.Errorf("sync: %w", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return c.Deactivate(call)
}
