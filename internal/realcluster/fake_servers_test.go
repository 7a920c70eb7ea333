package realcluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
)

// behaviour is what a fake mongod and mongos do beside what real ones do. It is in a file beside them.
type behaviour struct {
	Release  string        // what --version says; default 8.0.10
	Version  string        // printed instead of the version
	Print    string        // printed at the start, which then fails
	Times    int           // how many starts fail so; 0 is all
	EndAfter time.Duration // after SIGTERM
	Silent   bool          // listens and never answers
}

// TestMain is also the fake mongod and mongos: the tests link this program under those names.
func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); name == "mongod" || name == "mongos" {
		if err := fakeServer(name, os.Args[1:]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// fakeServers makes a folder with both programs.
func fakeServers(t *testing.T, b behaviour) Servers {
	t.Helper()
	dir := t.TempDir()
	writeFakes(t, dir, b)
	all, err := Find(t.Context(), dir)
	must.Do(t, err)
	return all[0]
}

func writeFakes(t *testing.T, dir string, b behaviour) {
	t.Helper()
	if b.Release == "" {
		b.Release = "8.0.10"
	}
	own := must.Get(os.Executable())
	text := must.Get(json.Marshal(b))
	must.Do(t, os.MkdirAll(dir, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, "behaviour"), text, 0o600))
	for _, name := range []string{"mongod", "mongos"} {
		must.Do(t, os.Symlink(own, filepath.Join(dir, name)))
	}
}

// fakeServer behaves like a server as far as this package can tell.
func fakeServer(name string, args []string) error {
	dir := filepath.Dir(os.Args[0])
	text, err := os.ReadFile(filepath.Join(dir, "behaviour"))
	if err != nil {
		return err
	}
	var b behaviour
	if err := json.Unmarshal(text, &b); err != nil {
		return err
	}
	if slices.Contains(args, "--version") {
		switch {
		case b.Version != "":
			fmt.Println(b.Version)
		case name == "mongod":
			fmt.Printf("db version v%s\nBuild Info: {}\n", b.Release)
		default:
			fmt.Printf("mongos version v%s\n", b.Release)
		}
		return nil
	}
	f := fakeFlags(args)
	if b.Print != "" && countStart(dir) <= max(b.Times, 0) || b.Print != "" && b.Times == 0 {
		fmt.Println(b.Print)
		os.Exit(48)
	}
	for _, p := range f["--setParameter"] {
		if strings.HasPrefix(p, b.unknown()) && b.unknown() != "" {
			fmt.Printf("BadValue: Unknown --setParameter '%s'\n", b.unknown())
			os.Exit(2)
		}
	}
	if key := f["--keyFile"]; key != nil {
		if info, err := os.Stat(key[0]); err != nil || info.Mode().Perm() != 0o400 {
			return fmt.Errorf("permissions on %s are too open: %v", key[0], err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+f["--port"][0])
	if err != nil {
		fmt.Println("Failed to set up listener: Address already in use:", err)
		os.Exit(48)
	}
	go endOnTerm(b.EndAfter)
	switch {
	case b.Silent:
		select {}
	case name == "mongod":
		return serveMongod(l, f)
	default:
		return serveMongos(l, b, f)
	}
}

// unknown is the parameter that the server of this release does not know.
func (b behaviour) unknown() string {
	_, after, _ := strings.Cut(b.Release, "without-")
	return after
}

func endOnTerm(after time.Duration) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	<-c
	time.Sleep(after)
	os.Exit(0)
}

// countStart counts the starts of servers of a folder.
func countStart(dir string) int {
	f, err := os.OpenFile(filepath.Join(dir, "starts"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	_, _ = f.WriteString("x")
	all, _ := os.ReadFile(f.Name())
	return len(all)
}

func fakeFlags(args []string) map[string][]string {
	f := make(map[string][]string)
	for i := 0; i < len(args); i++ {
		if strings.HasPrefix(args[i], "--") {
			f[args[i]] = append(f[args[i]], "")
			continue
		}
		last := f[args[i-1]]
		last[len(last)-1] = args[i]
	}
	return f
}

// serveMongod answers what is asked of a member: it is primary from its initiation on, also after a
// restart, but for a moment after it stepped down.
func serveMongod(l net.Listener, f map[string][]string) error {
	initiated := filepath.Join(f["--dbpath"][0], "initiated")
	var back atomic.Int64 // when it is primary again
	return serveFake(l, func(name string, body bson.Raw) bson.D {
		switch name {
		case "hello":
			_, err := os.Stat(initiated)
			return bson.D{{Key: "isWritablePrimary", Value: err == nil && time.Now().UnixNano() > back.Load()}, {Key: "ok", Value: 1.0}}
		case "replSetInitiate":
			config := body.Lookup(name).Document()
			if config.Lookup("_id").StringValue() != f["--replSet"][0] {
				return bson.D{{Key: "ok", Value: 0.0}, {Key: "code", Value: 93}, {Key: "errmsg", Value: "wrong name"}}
			}
			if err := os.WriteFile(initiated, nil, 0o600); err != nil {
				return bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: err.Error()}}
			}
			return bson.D{{Key: "ok", Value: 1.0}}
		case "replSetStepDown":
			back.Store(time.Now().Add(300 * time.Millisecond).UnixNano())
			return bson.D{{Key: "ok", Value: 1.0}}
		}
		return bson.D{{Key: "ok", Value: 0.0}, {Key: "code", Value: 59}, {Key: "errmsg", Value: "no such command: '" + name + "'"}}
	})
}

func serveFake(l net.Listener, reply func(name string, body bson.Raw) bson.D) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			for {
				m, err := readMessage(c)
				if err != nil {
					return
				}
				body, err := bson.Marshal(reply(nameOf(m), bodyOf(m)))
				if err != nil {
					return
				}
				if _, err := c.Write(appendMessage(2, requestOf(m), body)); err != nil {
					return
				}
			}
		}()
	}
}

func requestOf(m []byte) uint32 {
	return uint32(m[4]) | uint32(m[5])<<8 | uint32(m[6])<<16 | uint32(m[7])<<24
}

// serveMongos is a simulated cluster, whose shards are there before they are added.
func serveMongos(l net.Listener, b behaviour, f map[string][]string) error {
	if !strings.HasPrefix(f["--configdb"][0], "config-rs/127.0.0.1:") {
		return fmt.Errorf("--configdb is %q", f["--configdb"])
	}
	release, _, _ := strings.Cut(b.Release, "-")
	o := simcluster.Options{ServerVersion: release, Empty: true, Still: true, Pace: 0.1, OrphanDelay: 5 * time.Second, Reshard: time.Second}
	if f["--keyFile"] != nil {
		o.Users = []access.User{{Name: RootUser, Password: RootPassword}}
	}
	sim, err := simcluster.New(context.Background(), o)
	if err != nil {
		return err
	}
	sim.Start(context.Background())
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			inner, err := sim.DialContext(context.Background(), "", "")
			if err != nil {
				return
			}
			defer inner.Close()
			go func() { _, _ = io.Copy(c, inner); _ = c.Close() }()
			for {
				m, err := readMessage(c)
				if err != nil {
					return
				}
				first, _ := bodyOf(m).IndexErr(0)
				if nameOf(m) == "addShard" || nameOf(m) == "createUser" && first.Value().StringValue() == RootUser {
					body, _ := bson.Marshal(bson.D{{Key: "ok", Value: 1.0}})
					_, _ = c.Write(appendMessage(2, requestOf(m), body))
					continue
				}
				if _, err := io.Copy(inner, bytes.NewReader(m)); err != nil {
					return
				}
			}
		}()
	}
}
