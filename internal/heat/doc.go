// Package heat measures where writes go: the rates of projects, Yorkie documents, chunks and shards
// over time. Each rate says how it was measured: counted completely, estimated from samples with an
// interval, or a lower bound. Reads stay within a budget of returned documents under any load. All
// new rows are counted, by the time in their ids; rows updated in place are counted by date for the
// hottest projects only. See Method, and Cover for how each collection is counted or why not. A
// time that was not measured is unknown, not zero.
package heat
