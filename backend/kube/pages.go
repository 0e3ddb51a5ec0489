package kube

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pageSize is how many objects are asked for at once: the number that kubectl uses, some megabytes of pods.
const pageSize = 500

// Pages calls each for the objects of ref's kind in all namespaces, a page at a time, so that a list of any length takes little
// memory. selector chooses by labels; "" takes all. It tells whether this OpenShift has the kind. ref.Name is not checked. each
// may see an object twice: a list that grew too old in between is started again.
func (c *Cluster) Pages(ctx context.Context, ref Ref, selector string, each func(object map[string]any)) (served bool, err error) {
	next := ""
	for {
		var page []map[string]any
		served = true
		err = c.Do(ctx, "listing "+ref.Resource, func(ctx context.Context) error {
			list, err := c.resource(ref).List(ctx, metav1.ListOptions{Limit: pageSize, Continue: next, LabelSelector: selector})
			if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
				next = ""
				list, err = c.resource(ref).List(ctx, metav1.ListOptions{LabelSelector: selector})
			}
			if apierrors.IsNotFound(err) {
				served = false
				return nil
			}
			if err != nil {
				return err
			}
			page = page[:0]
			for i := range list.Items {
				page = append(page, list.Items[i].Object)
			}
			next = list.GetContinue()
			return nil
		})
		if err != nil || !served {
			return served, err
		}
		for _, object := range page {
			each(object)
		}
		if next == "" {
			return true, nil
		}
	}
}
