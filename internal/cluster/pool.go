package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// pool is a driver client for one address. A client replaces it when the address changes.
type pool struct {
	uri   URI
	mongo *mongo.Client
	tls   bool

	reader   Reader // of all its reads
	look     func(context.Context) ([]openCursor, time.Time, error)
	givenUp  givenUpReads
	servers  servers
	verified atomic.Bool // a mongos of the cluster answered, and not all servers were lost since
	hello    attempts
	life     context.Context // of the hello that all wait for; ends when the pool is closed
	end      context.CancelFunc

	mu      sync.Mutex
	uses    int
	retired bool
	idle    chan struct{} // closed when it is retired and no longer in use
}

func (p *pool) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.uses++
}

func (p *pool) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.uses--; p.uses == 0 && p.retired {
		close(p.idle)
	}
}

// retire tells that nobody will enter any more; idle is closed when the last has left.
func (p *pool) retire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.retired = true; p.uses == 0 {
		close(p.idle)
	}
}

// read sends a reading command with a single reply document, in a session of its own.
func (p *pool) read(ctx context.Context, db string, cmd bson.D, o ...options.Lister[options.RunCmdOptions]) (bson.Raw, error) {
	inSession, end := p.readSession(ctx)
	reply, err := p.run(inSession, db, p.marked(cmd), o...)
	end(err)
	return reply, err
}

// readAgain is read, and once more after a broken connection, which is safe for reads.
func (p *pool) readAgain(ctx context.Context, db string, cmd bson.D, o ...options.Lister[options.RunCmdOptions]) (bson.Raw, error) {
	reply, err := p.read(ctx, db, cmd, o...)
	if err != nil && connectionBroken(ctx, err) {
		reply, err = p.read(ctx, db, cmd, o...)
	}
	return reply, err
}

// run sends a command with a single reply document.
func (p *pool) run(ctx context.Context, db string, cmd bson.D, o ...options.Lister[options.RunCmdOptions]) (bson.Raw, error) {
	return p.mongo.Database(db).RunCommand(ctx, cmd, o...).Raw()
}

// disconnect closes a pool that nobody uses.
func (p *pool) disconnect() { _ = p.close(context.Background()) }

// close closes all connections, including those in use, and takes at most twice
// closeTimeout. The driver gets no deadline: with one it would poll for connections in
// use until it is over. It may still wait for the answer to a hello, up to 10 s or
// longer on a dead network, in a goroutine of its own.
func (p *pool) close(ctx context.Context) error {
	p.end() // an operation that waits for a server would wait without a pause once the driver is disconnected
	p.endGivenUp(ctx)
	bye, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, cancel)()
	defer time.AfterFunc(closeTimeout, cancel).Stop()
	done := make(chan error, 1)
	go func() {
		defer cancel()
		done <- p.mongo.Disconnect(bye)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(2 * closeTimeout):
		return nil
	}
}
