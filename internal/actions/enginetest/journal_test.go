package enginetest

import (
	"testing"

	"shardboard/internal/store"
	"shardboard/internal/store/storetest"
)

// What the engine is tested on behaves as what it runs on.
func TestTheDiskOfTheseTestsIsAJournal(t *testing.T) {
	storetest.Journal(t, func(*testing.T) store.Journal { return NewDisk().Open() })
}
