; inherits: ecmascript, jsx
; Captures are explained in languages/__init__.py.

(field_definition property: (_) @name value: [(arrow_function) (function_expression)] @fields) @method
(class_heritage [(identifier) (member_expression)] @inherits)
