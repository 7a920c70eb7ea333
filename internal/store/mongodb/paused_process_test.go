package mongodb

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

const replicaVariable = "SHARDBOARD_TEST_REPLICA"

// TestReplicaProcess is the body of the processes that the test below starts: it writes as leader
// whenever it can, and says when it leads and when a write was refused.
func TestReplicaProcess(t *testing.T) {
	name, address, _ := strings.Cut(os.Getenv(replicaVariable), "=")
	if name == "" {
		t.Skip("is started by TestProcessThatWasStoppedBySignalCannotWrite")
	}
	at := must.Get(ParseAddress(address))
	db, err := Open(context.Background(), at, Options{Lease: 3 * time.Second})
	must.Do(t, err)
	leads := false
	for {
		err := db.AppendHistory(context.Background(), "c",
			[]store.HistoryEntry{{At: time.Now(), Stream: "s", Whole: true, Body: []byte(name)}}, nil)
		if now := err == nil; now != leads {
			leads = now
			fmt.Printf("%s leads %v\n", name, leads)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// A real SIGSTOP, most often in the middle of a transaction, because the process does nothing else.
func TestProcessThatWasStoppedBySignalCannotWrite(t *testing.T) {
	if os.Getenv("SHARDBOARD_LONG") == "" {
		t.Skip("with SHARDBOARD_LONG=1: starts, stops and resumes processes for half a minute")
	}
	c := server(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	go func() { _ = c.Serve(l) }()
	address := "mongodb://" + l.Addr().String() + "/paused?directConnection=true"
	said := make(chan string, 100)
	processes := map[string]*exec.Cmd{}
	for _, name := range []string{"a", "b"} {
		p := exec.Command(os.Args[0], "-test.run=^TestReplicaProcess$", "-test.timeout=5m")
		p.Env = append(os.Environ(), replicaVariable+"="+name+"="+address)
		out, err := p.StdoutPipe()
		must.Do(t, err)
		must.Do(t, p.Start())
		t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
		go func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				said <- lines.Text()
			}
		}()
		processes[name] = p
		if name == "a" {
			await(t, said, "a leads true")
		}
	}
	db := openTCP(t, address)
	leader, next := "a", "b"
	for range 4 {
		must.Do(t, processes[leader].Process.Signal(syscall.SIGSTOP))
		await(t, said, next+" leads true")
		must.Do(t, processes[leader].Process.Signal(syscall.SIGCONT))
		await(t, said, leader+" leads false")
		time.Sleep(500 * time.Millisecond) // both write as fast as they can
		leader, next = next, leader
	}
	entries, err := db.HistoryBetween(t.Context(), "c", "s", time.Time{}, time.Time{}, 1_000_000)
	must.Do(t, err)
	var order strings.Builder // of the writers, by the order of storing
	bySeq := map[int64]string{}
	var last int64
	for _, e := range entries {
		bySeq[e.Seq], last = string(e.Body), max(last, e.Seq)
	}
	before := ""
	for seq := int64(1); seq <= last; seq++ {
		if now := bySeq[seq]; now != before {
			order.WriteString(now)
			before = now
		}
	}
	if order.String() != "ababa" {
		t.Errorf("the processes wrote in the order %s, want ababa: one wrote after another one led (%d entries)", order.String(), len(entries))
	}
}

func openTCP(t *testing.T, address string) *DB {
	t.Helper()
	at := must.Get(ParseAddress(address))
	db, err := Open(t.Context(), at, Options{Follow: true, Timeout: 30 * time.Second})
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func await(t *testing.T, said <-chan string, want string) {
	t.Helper()
	late := time.After(30 * time.Second)
	for {
		select {
		case line := <-said:
			if line == want {
				return
			}
		case <-late:
			t.Fatalf("nobody said %q", want)
		}
	}
}
