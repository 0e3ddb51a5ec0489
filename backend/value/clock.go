package value

import "time"

// MaxForward is the largest jump of the machine's clock ahead that needs no answer: a battery clock drifts by at most a few minutes in a
// month, so a day is past any drift, and one that runs in local time west of Greenwich is hours behind. Certificates are renewed within a
// day of their end.
const MaxForward = 24 * time.Hour
