// Package value reads the small values that both the site config and the backend take from outside, so that what one of them
// accepts the other can use. It imports no other package of the product.
package value
