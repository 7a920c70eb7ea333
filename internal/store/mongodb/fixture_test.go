package mongodb

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// server is a simulated cluster whose only content are stores.
func server(t testing.TB) *simcluster.Cluster {
	t.Helper()
	c := must.Get(simcluster.New(context.Background(), simcluster.Options{Empty: true, Still: true}))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

var databases atomic.Int64

// database is the address of an empty database.
func database(t testing.TB) Address {
	t.Helper()
	return address(fmt.Sprint("store", databases.Add(1)))
}

func address(name string) Address {
	return must.Get(ParseAddress(strings.Replace(simcluster.URI(), "/?", "/"+name+"?", 1)))
}

// open opens a store that is closed at the end of the test.
func open(t testing.TB, c *simcluster.Cluster, at Address, change ...func(*Options)) *DB {
	t.Helper()
	db, err := Open(context.Background(), at, optionsOf(c, change...))
	must.Do(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func optionsOf(c *simcluster.Cluster, change ...func(*Options)) Options {
	o := Options{Dialer: c, partSize: 1000}
	for _, f := range change {
		f(&o)
	}
	return o
}

// eventually fails unless f becomes true; the time is a synctest bubble's.
func eventually(t testing.TB, within time.Duration, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !f(); time.Sleep(100 * time.Millisecond) {
		must.That(t, !time.Now().After(end), "not within %s: %s", within, what)
	}
}
