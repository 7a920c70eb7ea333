package topology

import (
	"fmt"

	"shardboard/internal/fault"
)

// OtherClusterError says that another cluster answers at the address than at first.
type OtherClusterError struct {
	Watched string // id of the first
	Found   string // id of the one that answers
}

func (e *OtherClusterError) Error() string {
	return fmt.Sprintf("cluster %s answers, %s is watched", e.Found, e.Watched)
}

// OtherClusterTitle is the title while another cluster answers.
const OtherClusterTitle = "Another cluster answers at the address"

// OtherCluster is the failure of everything that needs the cluster while another one answers at its
// address. It is Unavailable, as an outage is: runs wait, and all goes on when the first one is back.
func OtherCluster(watched, found string) error {
	return &fault.Error{
		Kind: fault.Unavailable, Title: OtherClusterTitle, Err: &OtherClusterError{watched, found},
		Text: fmt.Sprintf("The cluster at the address is %s now; shardboard watches %s, and sends nothing to another one. If the change is "+
			"meant, restart shardboard. If not, correct the address, its DNS record or the mongos.", found, watched),
	}
}
