"""Orders and their customers, joined for as long as both change: live views that can be asked at any time."""

from decimal import Decimal

from headrace import F, Kafka, Pipeline, Topic, View, record


@record
class Customer:
    """Who orders; a customer who leaves is deleted from the topic."""

    id: str
    name: str
    country: str


@record
class Order:
    """What is ordered; it changes until it is delivered, and a cancelled one is deleted from the topic."""

    id: str
    customer: str
    amount: Decimal
    status: str


customers = Topic("customers", Customer, key="id", compacted=True).table()
orders = Topic("orders", Order, key="id", compacted=True).table()

# An order whose customer has not come yet, or has left, is there all the same.
placed = orders.join("placed", customers, on={"customer": "id"}, how="left")
countries = placed.group_by("country").agg(orders=F.count("*"), total=F.sum("amount"))
everything = countries.agg(orders=F.sum("orders"), total=F.sum("total"))

pipeline = Pipeline(
    "orders",
    placed=placed.to(View("placed")),
    countries=countries.to(View("countries")),
    everything=everything.to(View("everything")),
    changes=placed.changes().to(Kafka("orders.changes", key="id")),
    bad_orders=orders.rejected.to(Kafka("orders.rejected")),
    bad_customers=customers.rejected.to(Kafka("customers.rejected")),
)
