package cluster

import (
	"maps"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Cost is what commands of one name have cost since the start. Bytes are those of the messages' documents, before
// they are compressed.
type Cost struct {
	Commands     int64 // sent
	Failures     int64 // of these, that failed or had no answer
	Documents    int64 // that cursors returned
	RequestBytes int64
	ReplyBytes   int64
}

// costs adds up what each kind of command costs. The names are those that this program sends, so they are few.
type costs struct {
	mu sync.Mutex
	by map[string]Cost
}

func (c *costs) add(command string, of func(*Cost)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]Cost{}
	}
	one := c.by[command]
	of(&one)
	c.by[command] = one
}

// Costs is what the commands of this client have cost since its start, by command. The driver's own heartbeats are
// not among them.
func (c *Client) Costs() map[string]Cost {
	c.costs.mu.Lock()
	defer c.costs.mu.Unlock()
	return maps.Clone(c.costs.by)
}

// returned is the number of documents in the batch of a reply with a cursor.
func returned(reply bson.Raw) (n int64) {
	cursor, ok := reply.Lookup("cursor").DocumentOK()
	if !ok {
		return 0
	}
	w := walk(cursor)
	for w.next() {
		if key := string(w.key); key != "firstBatch" && key != "nextBatch" {
			continue
		}
		list, _ := w.array()
		for list.next() {
			n++
		}
	}
	return n
}
