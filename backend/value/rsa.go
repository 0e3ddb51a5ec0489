package value

// MostRSA is the longest RSA key, in bits, that Go's programs take from a server (crypto/tls, defaultMaxRSAKeySize): oc, and the operators
// that ask for the cluster's own routes.
const MostRSA = 8192
