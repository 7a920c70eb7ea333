package simcluster

import (
	"runtime"
	"testing"
	"time"
)

func TestDefaultDataSetLoadsQuickly(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the whole data set")
	}
	begin := time.Now()
	c, err := New(t.Context(), Options{Epoch: fixedEpoch()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	took := time.Since(begin)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	docs := 0
	for _, node := range c.catalog.Shards {
		for _, coll := range node.Colls("yorkie-meta") {
			docs += coll.Len()
		}
	}
	t.Logf("%d documents in %s, %d MB", docs, took, m.HeapAlloc>>20)
	if docs < 50_000 {
		t.Errorf("only %d documents", docs)
	}
}
