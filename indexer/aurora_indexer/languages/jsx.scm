; Elements of JSX: a component in use is a call of it.

(jsx_opening_element name: [(identifier) (member_expression)] @component)
(jsx_self_closing_element name: [(identifier) (member_expression)] @component)
