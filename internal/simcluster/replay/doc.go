// Package replay holds no product code: its tests play what clients of a real
// sharded MongoDB 5.0.7 sent, over the wire and through the official driver, to a
// fresh simulated cluster, and compare every reply and every document of config.*
// with what the real one had.
//
// replay.yaml says how each field is compared: exactly, unless it is named there
// with a reason. Values that a server makes up (uuids, epochs, object ids, cluster
// times, its own addresses) are not skipped: each recorded value must stand for one
// of ours and the other way round, wherever it appears.
package replay
