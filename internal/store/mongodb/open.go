// Package mongodb implements the store in one database of a MongoDB replica set or sharded cluster,
// so that several processes (replicas) can share it. Every replica writes what people do. What only
// one process may do (run plans, record, measure) is done by the replica that holds the lease, and
// each of its transactions proves that it still does (lease_document.go, transaction.go). A write is
// acknowledged by a majority, so it survives the loss of a server.
package mongodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"shardboard/internal/mongoclient"
	"shardboard/internal/store"
	"shardboard/internal/store/records"
)

const (
	defaultTimeout = 5 * time.Second
	defaultLease   = 10 * time.Second
	closeTimeout   = 2 * time.Second
)

// Options are the options of Open. The zero value is for production.
type Options struct {
	Log     *slog.Logger          // nil discards
	Dialer  options.ContextDialer // nil: TCP
	Timeout time.Duration         // of one call, for finding a server too; 0: 5 s
	Lease   time.Duration         // how long a lease lasts without renewal; 0: 10 s
	// Follow opens a store that never takes the lease, for commands that only read or add an account.
	Follow bool
	// MustExist refuses a database without a store instead of making one.
	MustExist bool

	migrations []migration // tests: instead of the real ones
	partSize   int         // tests: of bodies that are stored in parts
	// now is the clock of this process's lease and skipRenewal stops its work for the lease. With
	// both, a test behaves like a process that was paused.
	now         func() time.Time
	skipRenewal func() bool
}

func (o Options) withDefaults() Options {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Lease <= 0 {
		o.Lease = defaultLease
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.skipRenewal == nil {
		o.skipRenewal = func() bool { return false }
	}
	o.partSize = cmp.Or(o.partSize, defaultPart)
	if o.migrations == nil {
		o.migrations = migrations
	}
	return o
}

// DB is a store in a database. Safe for concurrent use.
type DB struct {
	records.Records

	o       Options
	address Address
	client  *mongo.Client
	data    *mongo.Database
	id      string // of this opening, unique
	notes   []string
	sharded bool // the server is a mongos

	state      *state
	lease      *lease
	written    lastWritten
	unreadable records.Unreadable
	checked    atomic.Bool

	ownSession   atomic.Pointer[bson.Raw] // id of session; nil before the first transaction
	beats        atomic.Int64             // number of the last test write
	waits        atomic.Bool              // for a newer one to take the lead, which was logged
	endingFailed atomic.Bool              // the session of another replica could not be ended, which was logged

	writeLock chan struct{}  // holds a token during a transaction
	session   *mongo.Session // guarded by writeLock, as unclear is
	unclear   bool           // the outcome of the last transaction of session is not known

	stop       context.CancelFunc // of the goroutine that keeps the lease
	background sync.WaitGroup
	closing    sync.Once
	closed     error
}

var _ store.Database = (*DB)(nil)

// Open connects to a database, makes or upgrades its collections, and tries to get the lease once.
// The error is a sentence for people: fault.Invalid for a server or database that cannot be a store,
// fault.Unavailable without an answer, fault.Conflict for data of another version.
func Open(ctx context.Context, at Address, o Options) (*DB, error) {
	db, err := connect(at, o)
	if err != nil {
		return nil, err
	}
	if err := db.open(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func connect(at Address, o Options) (*DB, error) {
	o = o.withDefaults()
	db := &DB{o: o, address: at, id: bson.NewObjectID().Hex(), writeLock: make(chan struct{}, 1), state: newState(o.Log, at)}
	db.Records = records.On(tables{db})
	db.lease = newLease(o)
	var err error
	if db.client, err = mongo.Connect(clientOptions(at, o)); err != nil {
		return nil, at.unusable(err)
	}
	db.data = db.client.Database(at.database)
	return db, nil
}

// clientOptions are the driver options of the address, with what a store needs.
func clientOptions(at Address, o Options) *options.ClientOptions {
	opts := mongoclient.Complete(options.Client().ApplyURI(at.reveal()), "shardboard store", o.Timeout, o.Dialer)
	opts.SetReadPreference(readpref.Primary()).SetReadConcern(readconcern.Majority()).SetWriteConcern(writeconcern.Majority())
	return opts.SetRetryWrites(true).SetRetryReads(true)
}

func (db *DB) open(ctx context.Context) error {
	if err := db.checkServer(ctx); err != nil {
		return err
	}
	if err := db.prepare(ctx); err != nil {
		return err
	}
	if err := db.rememberAuditEnd(ctx); err != nil {
		return err
	}
	db.showOpening(ctx)
	db.keep(ctx)
	return nil
}

// showOpening tells the other replicas of this one before anything is done with it: a backup of a server that
// cannot read a moment must not take itself to be alone. A write that fails is reported by the first beat.
func (db *DB) showOpening(ctx context.Context) {
	ctx, cancel := db.within(ctx)
	defer cancel()
	_ = db.show(ctx)
}

// Owner is true: all replicas may write.
func (db *DB) Owner() bool { return true }

// Place is scheme, hosts and database.
func (db *DB) Place() string { return db.address.String() }

// Notes are log messages about what was tolerated at opening.
func (db *DB) Notes() []string { return db.notes }

// Close gives the lease up, so that another replica need not wait for its end, and disconnects.
func (db *DB) Close() error {
	db.closing.Do(func() {
		if db.stop != nil {
			db.stop()
			db.background.Wait()
		}
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		db.leave(ctx)
		if db.session != nil {
			db.session.EndSession(ctx)
		}
		if err := db.client.Disconnect(ctx); err != nil && ctx.Err() == nil {
			db.closed = fmt.Errorf("disconnect from %s: %w", db.address, err)
		}
	})
	return db.closed
}
